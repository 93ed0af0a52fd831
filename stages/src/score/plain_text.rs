//! Texts without letter case, punctuation and articles.

use std::ops::Range;

use crate::python::{is_alphanumeric, is_whitespace};

/// `text` in lower case (full Unicode; a sigma at a word's end is a final one), without the 32 ASCII punctuation
/// characters, without the whole words `articles`, its words one space apart: in this order, so that `a.m.` becomes `am` and
/// is no article. Characters of no word, such as dashes beyond ASCII, stay and end a word.
pub(crate) fn plain_text(text: &str, articles: &[&str]) -> String {
    let mut plain = PlainText { text: String::with_capacity(text.len()), articles, word: None, gap: false };
    match text.is_ascii() {
        true => text.bytes().for_each(|byte| plain.push_ascii(byte)),
        false => text.to_lowercase().chars().for_each(|c| plain.push(c)),
    }
    plain.end_word();
    plain.text
}

/// The words of a plain text; a blank one has none.
pub(crate) fn words(plain: &str) -> Vec<&str> {
    let mut words = Vec::with_capacity(plain.bytes().filter(|byte| *byte == b' ').count() + 1);
    let mut start = 0;
    // Words are too short for a search that tests many bytes at once.
    for (at, byte) in plain.bytes().enumerate() {
        if byte == b' ' {
            words.extend(plain.get(start..at).filter(|word| !word.is_empty()));
            start = at + 1;
        }
    }
    words.extend(plain.get(start..).filter(|word| !word.is_empty()));
    words
}

/// The words of a plain text as bytes, found without putting it together.
pub(crate) struct PlainWords {
    /// The words, one after the other.
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl PlainWords {
    /// [`words`] of [`plain_text`].
    pub(crate) fn of(text: &str, articles: &[&str]) -> Self {
        Self::of_ascii(text, articles).unwrap_or_else(|| {
            let plain = plain_text(text, articles);
            let (mut bytes, mut places) = (Vec::with_capacity(plain.len()), Vec::new());
            for word in words(&plain) {
                places.push(bytes.len()..bytes.len() + word.len());
                bytes.extend_from_slice(word.as_bytes());
            }
            PlainWords { bytes, places }
        })
    }

    /// Those of a text of ASCII without control characters that are no whitespace, as nearly all are.
    fn of_ascii(text: &str, articles: &[&str]) -> Option<Self> {
        let mut bytes = vec![0; text.len()];
        let mut places = Vec::with_capacity(text.len() / 4 + 1);
        let (mut start, mut end) = (0, 0);
        // The space ends the last word.
        for byte in text.bytes().chain([b' ']) {
            match *KINDS.get(usize::from(byte))? {
                Kind::OfWord(letter) => {
                    *bytes.get_mut(end)? = letter;
                    end += 1;
                }
                Kind::Punctuation => {}
                Kind::Whitespace => {
                    let word = bytes.get(start..end)?;
                    if articles.iter().any(|article| article.as_bytes() == word) {
                        end = start;
                    } else if !word.is_empty() {
                        places.push(start..end);
                        start = end;
                    }
                }
                Kind::Other => return None,
            }
        }
        Some(PlainWords { bytes, places })
    }

    /// The words.
    pub(crate) fn words(&self) -> Vec<&[u8]> {
        self.places.iter().filter_map(|place| self.bytes.get(place.clone())).collect()
    }
}

/// What an ASCII character is to a plain text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter or a digit, in lower case.
    OfWord(u8),
    Punctuation,
    Whitespace,
    Other,
}

const KINDS: [Kind; 128] = {
    let mut kinds = [Kind::Other; 128];
    let mut byte = 0u8;
    while byte < 128 {
        kinds[byte as usize] = if byte.is_ascii_alphanumeric() {
            Kind::OfWord(byte.to_ascii_lowercase())
        } else if byte.is_ascii_punctuation() {
            Kind::Punctuation
        } else if matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ') {
            Kind::Whitespace
        } else {
            Kind::Other
        };
        byte += 1;
    }
    kinds
};

struct PlainText<'a> {
    text: String,
    articles: &'a [&'a str],
    /// Where the word starts that is being written.
    word: Option<usize>,
    /// Whether what comes next stands apart from what is there.
    gap: bool,
}

impl PlainText<'_> {
    /// As [`PlainText::push`] of a character of ASCII, of which most texts are alone.
    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        match KINDS.get(usize::from(byte)) {
            Some(Kind::OfWord(letter)) => {
                self.close_gap();
                if self.word.is_none() {
                    self.word = Some(self.text.len());
                }
                self.text.push(char::from(*letter));
            }
            Some(Kind::Punctuation) => {}
            Some(Kind::Whitespace) => {
                self.end_word();
                self.gap = true;
            }
            _ => self.push(char::from(byte)),
        }
    }

    fn push(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            return;
        }
        if is_whitespace(c) {
            self.end_word();
            self.gap = true;
            return;
        }
        let of_word = c.is_ascii_alphanumeric() || (!c.is_ascii() && is_alphanumeric(c));
        if !of_word {
            self.end_word();
        }
        self.close_gap();
        if of_word && self.word.is_none() {
            self.word = Some(self.text.len());
        }
        self.text.push(c);
    }

    fn close_gap(&mut self) {
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
    }

    /// Takes the last word away again where it is an article.
    fn end_word(&mut self) {
        let Some(start) = self.word.take() else { return };
        if self.text.get(start..).is_some_and(|word| self.articles.contains(&word)) {
            self.text.truncate(start);
            if self.text.ends_with(' ') {
                self.text.pop();
            }
            self.gap = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTICLES: [&str; 3] = ["a", "an", "the"];

    fn plain(text: &str) -> String {
        plain_text(text, &ARTICLES)
    }

    #[test]
    fn lower_case_without_punctuation_and_articles() {
        assert_eq!(plain("The U.S. Army's \"a.m.\" shift, an hour"), "us armys am shift hour");
        assert_eq!(plain(" the, a! "), "");
        assert_eq!(plain("a thea\u{1f}the_a  b"), "thea thea b");
        assert_eq!(plain("The ΟΔΟΣ, İ"), "οδος i\u{307}");
    }

    #[test]
    fn what_is_of_no_word_ends_one() {
        assert_eq!(plain("left–the–right theatre"), "left– –right theatre");
        assert_eq!(plain("a\u{0}b the\u{0}"), "\u{0}b \u{0}");
        // A combining mark or a circled letter ends a word.
        assert_eq!(words(&plain("a\u{301} ⓐthe anⓑ")), ["\u{301}", "ⓐ", "ⓑ"]);
    }

    #[test]
    fn ascii_is_read_as_all_else_is() {
        let all: String = (0..128u8).flat_map(|byte| ['x', char::from(byte), 'Y', ' ', char::from(byte)]).collect();
        for text in [all.as_str(), "The  a cat, an' the hat.", " \tA\u{1c}AN the", "x the", "the\u{7f}a b", "a-b_a A"] {
            let found = PlainWords::of(text, &ARTICLES);
            let expected = plain(text);
            assert_eq!(found.words(), words(&expected).iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
            let mut other = plain(&format!("{text} é"));
            other.truncate(other.len() - "é".len());
            assert_eq!(plain(text), other.trim_end_matches(' '), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn words_are_those_of_the_plain_text(text in "[aA ntheTHE.,'\\-\t\u{1}xé0]{0,40}") {
            let (found, expected) = (PlainWords::of(&text, &ARTICLES), plain(&text));
            let expected: Vec<&[u8]> = words(&expected).iter().map(|word| word.as_bytes()).collect();
            proptest::prop_assert_eq!(found.words(), expected);
        }
    }
}
