//! Where the tokens of a page are.

use std::collections::HashSet;
use std::ops::Range;

use tiktoken_rs::cl100k_base_singleton;
use unicode_segmentation::UnicodeSegmentation;

use super::options::Tokenizer;

/// The text could not be tokenized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cl100k_base cannot tokenize the page: {0}")]
pub(super) struct TokenizeError(String);

impl Tokenizer {
    /// Bumped by hand when the tokenizer finds other tokens in the same text.
    pub(crate) fn code_version(self) -> u64 {
        match self {
            Tokenizer::Words | Tokenizer::Unicode | Tokenizer::Cl100kBase => 1,
        }
    }

    /// The tokens of `text`.
    ///
    /// - `words`: the segments between word boundaries (UAX 29) that hold a letter or digit. Ideographs, kana and hangul
    ///   syllables are a word each, as are the letters of the other scripts that are written without spaces (Thai, Lao,
    ///   Khmer, Burmese), where UAX 29 needs a dictionary that we do not have. What lies between two words (punctuation,
    ///   white space, emoji) counts nothing and is cut off before the next word. A text without any word is one token.
    /// - `unicode`: the code points.
    /// - `cl100k_base`: the tokens of the whole page's encoding. A token boundary within a character moves to the next
    ///   one between characters; what then is one range still counts for all its tokens.
    ///
    /// # Errors
    /// When `cl100k_base` gives up (its pattern has a backtracking limit).
    pub(super) fn tokens(self, text: &str) -> Result<Tokens, TokenizeError> {
        let mut tokens = Tokens::new();
        match self {
            Tokenizer::Words => words(text, &mut tokens),
            Tokenizer::Unicode => text.char_indices().for_each(|(at, c)| tokens.push(at..at + c.len_utf8(), 1)),
            Tokenizer::Cl100kBase => cl100k_base(text, &mut tokens)?,
        }
        Ok(tokens)
    }

    /// How many tokens `text` has. A text that `cl100k_base` gives up on counts one per code point, which is more than it
    /// can have.
    pub fn count(self, text: &str) -> u64 {
        self.tokens(text).map_or_else(|_| text.chars().count() as u64, |tokens| tokens.total())
    }
}

/// The tokens of a text in order, as byte ranges that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    starts: Vec<usize>,
    ends: Vec<usize>,
    /// How many tokens lie before each range, and at the end how many there are: ranges may count for several.
    before: Vec<u64>,
}

impl Tokens {
    fn new() -> Self {
        Tokens { starts: Vec::new(), ends: Vec::new(), before: vec![0] }
    }

    fn push(&mut self, range: Range<usize>, tokens: u64) {
        self.starts.push(range.start);
        self.ends.push(range.end);
        self.before.push(self.total() + tokens);
    }

    /// How many there are in the whole text.
    pub(super) fn total(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// The positions of the ranges that overlap with `bytes`.
    pub(super) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let first = self.ends.partition_point(|&end| end <= bytes.start);
        let last = self.starts.partition_point(|&start| start < bytes.end);
        first..last.max(first)
    }

    /// How many tokens overlap with `bytes`.
    pub(super) fn count(&self, bytes: &Range<usize>) -> u64 {
        let within = self.within(bytes);
        self.before_range(within.end) - self.before_range(within.start)
    }

    /// Where range `i` starts; for one beyond the last, where the last ends.
    pub(super) fn start(&self, i: usize) -> usize {
        self.starts.get(i).or(self.ends.last()).copied().unwrap_or(0)
    }

    /// How many tokens lie before range `i`.
    pub(super) fn before_range(&self, i: usize) -> u64 {
        self.before.get(i).copied().unwrap_or_else(|| self.total())
    }

    /// The first range with at least `tokens` tokens before it.
    pub(super) fn first_with_before(&self, tokens: u64) -> usize {
        self.before.partition_point(|&before| before < tokens)
    }

    /// The last range with at most `tokens` tokens before it.
    pub(super) fn last_with_before(&self, tokens: u64) -> usize {
        self.before.partition_point(|&before| before <= tokens).saturating_sub(1)
    }

    /// `at`, moved out of the token that it lies in: before the token if only white space of it lies before `at` (tokens
    /// of `cl100k_base` open with the space before a word), else behind it.
    pub(super) fn out_of_token(&self, text: &str, at: usize) -> usize {
        let i = self.starts.partition_point(|&start| start < at);
        match i.checked_sub(1).and_then(|i| Some((*self.starts.get(i)?, *self.ends.get(i)?))) {
            Some((start, end)) if at < end => match text.get(start..at) {
                Some(opening) if opening.trim().is_empty() => start,
                _ => end,
            },
            _ => at,
        }
    }
}

fn words(text: &str, tokens: &mut Tokens) {
    for (at, segment) in text.split_word_bound_indices() {
        if !segment.chars().any(char::is_alphanumeric) {
            continue;
        }
        let mut start = 0;
        if !segment.is_ascii() {
            // Katakana and hangul run together in UAX 29, and marks belong to the letter before them.
            let mut after_syllable = false;
            for (i, c) in segment.char_indices() {
                let syllable = is_syllable(c);
                if i > start && (syllable || (after_syllable && c.is_alphanumeric() && !lengthens(c))) {
                    tokens.push(at + start..at + i, 1);
                    start = i;
                }
                if c.is_alphanumeric() && !lengthens(c) {
                    after_syllable = syllable;
                }
            }
        }
        tokens.push(at + start..at + segment.len(), 1);
    }
    if tokens.total() == 0 && !text.trim().is_empty() {
        tokens.push(0..text.len(), 1);
    }
}

/// Whether a character is a word of its own: kana, bopomofo, hangul or an ideograph.
fn is_syllable(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{3105}'..='\u{318e}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff6f}' | '\u{ff71}'..='\u{ff9d}' | '\u{1b000}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character only lengthens the kana before it.
fn lengthens(c: char) -> bool {
    matches!(c, '\u{30fc}' | '\u{ff70}')
}

fn cl100k_base(text: &str, tokens: &mut Tokens) -> Result<(), TokenizeError> {
    let encoder = cl100k_base_singleton();
    // `encode`, unlike `encode_ordinary`, reports the limit of the pattern instead of panicking. With no special token
    // allowed it gives the same tokens.
    let (ranks, _) = encoder.encode(text, &HashSet::new()).map_err(|error| TokenizeError(error.message))?;
    let (mut start, mut end, mut taken) = (0, 0, 0);
    for rank in ranks {
        end += encoder.decode_bytes(&[rank]).map_err(|error| TokenizeError(error.to_string()))?.len();
        taken += 1;
        if text.is_char_boundary(end) {
            tokens.push(start..end, taken);
            (start, taken) = (end, 0);
        }
    }
    if end == text.len() {
        Ok(())
    } else {
        Err(TokenizeError(format!("its tokens cover {end} of {} bytes", text.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokenizer: Tokenizer, text: &str) -> Vec<(&str, u64)> {
        let tokens = tokenizer.tokens(text).expect("tokens");
        (0..tokens.starts.len())
            .map(|i| (&text[tokens.starts[i]..tokens.ends[i]], tokens.before[i + 1] - tokens.before[i]))
            .collect()
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(Tokenizer::Words, text).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn words_hold_a_letter_or_digit() {
        assert_eq!(words("Don't pay $3.50 — (or e-mail) …"), ["Don't", "pay", "3.50", "or", "e", "mail"]);
        assert_eq!(words("Cafe\u{301} naïve"), ["Cafe\u{301}", "naïve"]);
        assert_eq!(words("?! …"), ["?! …"]);
        assert_eq!(words(" \n"), Vec::<&str>::new());
    }

    #[test]
    fn scripts_without_spaces_have_one_word_per_letter() {
        assert_eq!(words("日本語。東京タワー"), ["日", "本", "語", "東", "京", "タ", "ワー"]);
        assert_eq!(words("한국 rust언어"), ["한", "국", "rust", "언", "어"]);
        assert_eq!(words("か\u{3099}ABC"), ["か\u{3099}", "ABC"]);
        assert_eq!(words("ไทย").len(), 3);
    }

    #[test]
    fn cl100k_tokens_end_with_characters() {
        assert_eq!(tokens(Tokenizer::Cl100kBase, "hello world!"), [("hello", 1), (" world", 1), ("!", 1)]);
        // The flag of Wales is 7 code points; no token of the encoding ends within one of them in our ranges.
        let flag = "x🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}<|endoftext|>";
        let found = tokens(Tokenizer::Cl100kBase, flag);
        assert_eq!(found.iter().map(|(text, _)| *text).collect::<String>(), flag);
        let expected = cl100k_base_singleton().encode_ordinary(flag).len() as u64;
        assert_eq!(found.iter().map(|(_, taken)| taken).sum::<u64>(), expected);
        assert!(found.iter().any(|&(_, taken)| taken > 1));
    }

    #[test]
    fn counts_and_positions() {
        let text = "one two, three";
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        assert_eq!(tokens.count(&(0..14)), 3);
        assert_eq!(tokens.count(&(3..9)), 1);
        assert_eq!(tokens.count(&(2..10)), 3);
        assert_eq!(tokens.count(&(7..9)), 0);
        assert_eq!(tokens.out_of_token(text, 5), 7);
        assert_eq!(tokens.out_of_token(text, 8), 8);
        let text = "end. Next";
        let tokens = Tokenizer::Cl100kBase.tokens(text).expect("tokens");
        assert_eq!(tokens.out_of_token(text, 5), 4);
    }
}
