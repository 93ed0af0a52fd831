//! Texts without letter case, punctuation and articles.

use crate::python::{is_alphanumeric, is_whitespace};

/// `text` in lower case (full Unicode; a sigma at a word's end is a final one), without the 32 ASCII punctuation
/// characters, without the whole words `articles`, its words one space apart: in this order, so that `a.m.` becomes `am` and
/// is no article. Characters of no word, such as dashes beyond ASCII, stay and end a word.
pub(crate) fn plain_text(text: &str, articles: &[&str]) -> String {
    let mut plain = PlainText { text: String::with_capacity(text.len()), articles, word: None, gap: false };
    let mut rest = text;
    // Most texts are words of ASCII letters: they are put in a word at a time.
    while text.is_ascii() && !rest.is_empty() {
        let (word, after) = rest.split_at(rest.bytes().take_while(u8::is_ascii_alphanumeric).count());
        plain.push_word(word);
        let mut other = after.chars();
        other.next().into_iter().for_each(|c| plain.push(c));
        rest = other.as_str();
    }
    if !text.is_ascii() {
        text.to_lowercase().chars().for_each(|c| plain.push(c));
    }
    plain.end_word();
    plain.text
}

/// The words of a plain text; a blank one has none.
pub(crate) fn words(plain: &str) -> Vec<&str> {
    plain.split(' ').filter(|word| !word.is_empty()).collect()
}

struct PlainText<'a> {
    text: String,
    articles: &'a [&'a str],
    /// Where the word starts that is being written.
    word: Option<usize>,
    /// Whether what comes next stands apart from what is there.
    gap: bool,
}

impl PlainText<'_> {
    /// Puts in letters and digits of ASCII.
    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        self.close_gap();
        let start = self.text.len();
        self.word.get_or_insert(start);
        self.text.push_str(word);
        if let Some(word) = self.text.get_mut(start..) {
            word.make_ascii_lowercase();
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
        let is_article = self.text.get(start..).is_some_and(|word| self.articles.contains(&word));
        if is_article {
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
        for text in ["The  a cat, an' the hat.", " \tA\u{1c}AN the", "x the", "the\u{7f}a b", "a-b_a A"] {
            let mut other = plain(&format!("{text} é"));
            other.truncate(other.len() - "é".len());
            assert_eq!(plain(text), other.trim_end_matches(' '), "{text:?}");
        }
    }
}
