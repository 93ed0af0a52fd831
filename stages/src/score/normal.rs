//! The normal form in which texts are compared (spec/heta 5 and 11).

use caseless::Caseless;

use crate::python::is_whitespace;

/// Full Unicode case folding (ß is ss, final sigma is sigma, ligatures are spelled out), then every run of whitespace as
/// one space and none at the ends. No Unicode normalisation form, no punctuation, article or number handling.
pub fn normal_form(text: &str) -> String {
    let mut normal = NormalForm { text: String::with_capacity(text.len()), gap: false };
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, other) = rest.split_at(first(rest, |byte| !byte.is_ascii()));
        normal.push_ascii(ascii);
        let (other, after) = other.split_at(other.find(|c: char| c.is_ascii()).unwrap_or(other.len()));
        other.chars().for_each(|c| normal.push(c));
        rest = after;
    }
    // Letters beyond ASCII are folded already, and to none that this changes.
    normal.text.make_ascii_lowercase();
    normal.text
}

struct NormalForm {
    text: String,
    /// Whether whitespace was read since.
    gap: bool,
}

impl NormalForm {
    /// Nearly all whitespace is single spaces already: lines without others are put in as they are.
    fn push_ascii(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let (line, after) = rest.split_at(first(rest, |byte| byte < b' '));
            self.push_line(line);
            let mut control = after.chars();
            let Some(c) = control.next() else { return };
            self.push(c);
            rest = control.as_str();
        }
    }

    /// Puts in ASCII without control characters.
    fn push_line(&mut self, line: &str) {
        self.gap |= line.starts_with(' ');
        let bare = line.trim_matches(' ');
        if bare.is_empty() {
            return;
        }
        if bare.contains("  ") {
            for word in bare.split(' ').filter(|word| !word.is_empty()) {
                self.close_gap();
                self.text.push_str(word);
                self.gap = true;
            }
        } else {
            self.close_gap();
            self.text.push_str(bare);
        }
        self.gap = line.ends_with(' ');
    }

    fn push(&mut self, c: char) {
        if is_whitespace(c) {
            self.gap = true;
        } else {
            self.close_gap();
            self.text.extend(std::iter::once(c).default_case_fold());
        }
    }

    fn close_gap(&mut self) {
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
    }
}

/// Where the first byte is of which `test` holds; the length where there is none. Many bytes are tested at once: words are
/// short, and a branch for each byte is guessed wrong at many.
fn first(text: &str, test: impl Fn(u8) -> bool) -> usize {
    const AT_ONCE: usize = 32;
    let hit = text.as_bytes().chunks(AT_ONCE).enumerate().find_map(|(i, bytes)| {
        if !bytes.iter().fold(false, |any, byte| any | test(*byte)) {
            return None;
        }
        bytes.iter().position(|byte| test(*byte)).map(|at| i * AT_ONCE + at)
    });
    hit.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_folding_is_full() {
        assert_eq!(normal_form("Straße"), "strasse");
        assert_eq!(normal_form("STRASSE"), "strasse");
        assert_eq!(normal_form("ΟΔΟΣ"), "οδοσ");
        assert_eq!(normal_form("οδος"), "οδοσ");
        assert_eq!(normal_form("İzmir"), "i\u{307}zmir");
        assert_eq!(normal_form("oﬃce ﬁle"), "office file");
        assert_eq!(normal_form("１２３"), "１２３");
    }

    proptest::proptest! {
        #[test]
        fn words_are_folded_as_the_whole_is(text in "[ -~\u{0}-\u{20} \u{a0}ßİΣςﬁ\u{345}\u{212a}]{0,40}") {
            let folded = caseless::default_case_fold_str(&text);
            let words: Vec<&str> = folded.split(is_whitespace).filter(|word| !word.is_empty()).collect();
            proptest::prop_assert_eq!(normal_form(&text), words.join(" "));
        }
    }

    #[test]
    fn whitespace_is_one_space() {
        assert_eq!(normal_form("  New \t York\u{1c}City\u{2028}\u{a0}\n"), "new york city");
        assert_eq!(normal_form("a\u{200b}b\u{feff}"), "a\u{200b}b\u{feff}");
        assert_eq!(normal_form("\u{85}\u{3000}"), "");
    }
}
