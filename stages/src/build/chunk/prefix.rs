//! The start of a text that has at most so many tokens.

use super::options::Tokenizer;

impl Tokenizer {
    /// The name in evaluation files and keys.
    pub fn name(self) -> &'static str {
        match self {
            Tokenizer::Words => "words",
            Tokenizer::Unicode => "unicode",
            Tokenizer::Cl100kBase => "cl100k_base",
        }
    }

    /// The longest start of `text` that has at most `tokens` tokens and ends between two of them, without the white space at
    /// its end, and how many tokens it has. Of a text that `cl100k_base` gives up on, each code point counts as a token.
    pub fn prefix(self, text: &str, tokens: u64) -> (&str, u64) {
        let found = match self.tokens(text) {
            Ok(found) => found,
            Err(_) => {
                let count = usize::try_from(tokens).unwrap_or(usize::MAX);
                let end = text.char_indices().nth(count).map_or(text.len(), |(end, _)| end);
                let start = text.get(..end).unwrap_or_default();
                return (start.trim_end(), start.chars().count() as u64);
            }
        };
        if found.total() <= tokens {
            return (text, found.total());
        }
        let ranges = found.last_with_before(tokens);
        if ranges == 0 {
            return ("", 0);
        }
        // For `words`, what lies between two words belongs to the one before it: a cut text keeps its full stop.
        (text.get(..found.start(ranges)).unwrap_or_default().trim_end(), found.before_range(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_between_tokens() {
        let words = |tokens| Tokenizer::Words.prefix("— One two, three. Four", tokens);
        assert_eq!(words(0), ("", 0));
        assert_eq!(words(2), ("— One two,", 2));
        assert_eq!(words(3), ("— One two, three.", 3));
        assert_eq!(words(4), ("— One two, three. Four", 4));
        assert_eq!(words(99), ("— One two, three. Four", 4));
        assert_eq!(Tokenizer::Unicode.prefix("äbc d", 2), ("äb", 2));
        assert_eq!(Tokenizer::Unicode.prefix("äb c", 3), ("äb", 3));
        assert_eq!(Tokenizer::Cl100kBase.prefix("hello world!", 2), ("hello world", 2));
        assert_eq!(Tokenizer::Cl100kBase.prefix("hello world!", 1), ("hello", 1));
        // A flag is several tokens that do not end with its characters: it is never cut in two.
        let flag = "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
        for tokens in 0..20 {
            let (start, taken) = Tokenizer::Cl100kBase.prefix(flag, tokens);
            assert!(flag.starts_with(start) && taken <= tokens, "{tokens}: {start:?}");
        }
    }
}
