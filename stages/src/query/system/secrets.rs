//! Texts that no message may hold.

/// What a text is replaced by.
const MASK: &str = "***";
/// Shorter values are no secrets but `1` or `on`, and masking them would garble every message.
const SHORTEST: usize = 4;
/// Shorter words of a value (`Bearer`) are left alone.
const SHORTEST_WORD: usize = 8;

/// What stands where an excerpt was cut off.
const CUT: &str = "...";

/// Values of headers, URL parameters and environment variables. The other side may echo them; what it says goes into reports.
pub(super) struct Secrets {
    /// Longest first, so that a word of a value does not break the value.
    values: Vec<String>,
}

impl Secrets {
    /// The values of `pairs`, and their longer words: of `Bearer abcdefgh` also `abcdefgh`.
    pub(super) fn of(pairs: &[(String, String)]) -> Self {
        let mut values = Vec::new();
        for (_, value) in pairs {
            if value.trim().len() >= SHORTEST {
                values.push(value.trim().to_string());
            }
            values.extend(value.split_whitespace().filter(|word| word.len() >= SHORTEST_WORD).map(str::to_string));
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        values.dedup();
        Secrets { values }
    }

    /// `text` with every secret masked.
    pub(super) fn masked(&self, text: &str) -> String {
        self.values.iter().fold(text.to_string(), |text, value| unfinished(&text.replace(value, MASK), value))
    }
}

/// Masks the start of `value` where an excerpt was cut off within it.
fn unfinished(text: &str, value: &str) -> String {
    let parts: Vec<&str> = text.split(CUT).collect();
    let last = parts.len().saturating_sub(1);
    let masked = parts.iter().enumerate().map(|(i, part)| {
        let ends = value.char_indices().map(|(end, _)| end).filter(|end| i < last && *end >= SHORTEST).rev();
        let found = ends.filter_map(|end| value.get(..end)).find_map(|start| part.strip_suffix(start));
        found.map_or_else(|| part.to_string(), |before| format!("{before}{MASK}"))
    });
    masked.collect::<Vec<_>>().join(CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_words_are_masked() {
        let pairs = [("Authorization", "Bearer sk-12345678"), ("X-On", "1")];
        let secrets = Secrets::of(&pairs.map(|(name, value)| (name.to_string(), value.to_string())));
        assert_eq!(secrets.masked("got Bearer sk-12345678, 1 of"), "got ***, 1 of");
        assert_eq!(secrets.masked("got sk-1234... and a..."), "got ***... and a...");
        assert_eq!(secrets.masked("key sk-12345678 is bad; Bearer needed"), "key *** is bad; Bearer needed");
    }
}
