//! Labels that an answer names.

use super::stated_answer::stated;
use crate::python::is_alphanumeric;
use crate::score::normal::normal_form;

/// The labels that there are, and how they are found in answers.
pub(super) struct LabelReader {
    /// In normal form; the longest first, so that `not entailed` is not read as `entailed`.
    words: Vec<String>,
    /// Single letters, as capitals.
    letters: Vec<char>,
    at_start: bool,
}

/// Words that may stand between `answer is` and a label.
const LEADS: [&str; 4] = ["option", "choice", "letter", "the"];

impl LabelReader {
    /// A reader of `labels`; `at_start`: only of what an answer, or what it states, begins with.
    pub(super) fn new<'a>(labels: impl IntoIterator<Item = &'a str>, at_start: bool) -> Self {
        let mut reader = LabelReader { words: Vec::new(), letters: Vec::new(), at_start };
        // A blank label is named by no answer, and would be found everywhere.
        for label in labels.into_iter().map(label).filter(|label| !label.is_empty()) {
            match letter(&label) {
                Some(letter) => reader.letters.push(letter),
                None => reader.words.push(label),
            }
        }
        reader.words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        reader
    }

    /// The labels that `answer` names, each once, in the order of their first places. What follows `answer is` or `answer:`
    /// counts alone where it begins with a label.
    pub(super) fn named(&self, answer: &str) -> Vec<String> {
        let mut named: Vec<String> = stated(answer).into_iter().filter_map(|after| self.opening(after)).collect();
        if named.is_empty() {
            named.extend(self.opening(answer).filter(|_| self.at_start));
        }
        if named.is_empty() && !self.at_start {
            named = self.anywhere(answer);
        }
        let mut distinct: Vec<String> = Vec::new();
        named.into_iter().for_each(|label| {
            if !distinct.contains(&label) {
                distinct.push(label)
            }
        });
        distinct
    }

    /// The label that `text` begins with, brackets and the words before it aside.
    fn opening(&self, text: &str) -> Option<String> {
        let normal = normal_form(text);
        let mut rest = normal.trim_start_matches(|c: char| !is_alphanumeric(c));
        while let Some(after) = LEADS.iter().find_map(|lead| rest.strip_prefix(lead)?.strip_prefix(' ')) {
            rest = after.trim_start_matches(|c: char| !is_alphanumeric(c));
        }
        let ends = |label: &str| rest.strip_prefix(label).is_some_and(|after| !after.starts_with(is_alphanumeric));
        if let Some(word) = self.words.iter().find(|word| ends(word)) {
            return Some(word.clone());
        }
        // `a` opens many a sentence: a letter must stand apart from what follows.
        let mut chars = rest.chars();
        let letter = chars.next().map(|c| c.to_ascii_uppercase()).filter(|letter| self.letters.contains(letter))?;
        let apart = match chars.next() {
            None => true,
            Some(' ') => !matches!(letter, 'A' | 'I') && chars.next().is_none_or(|c| !is_alphanumeric(c)),
            Some(c) => !is_alphanumeric(c) && !matches!(c, '\'' | '’' | '-'),
        };
        apart.then(|| letter.to_string())
    }

    fn anywhere(&self, text: &str) -> Vec<String> {
        let mut named: Vec<String> = self.letters_in(text);
        let normal = normal_form(text);
        let mut rest = normal.as_str();
        let mut inside = false;
        while let Some(c) = rest.chars().next() {
            let label = self.words.iter().find(|word| {
                !(inside && is_alphanumeric(c))
                    && rest
                        .strip_prefix(word.as_str())
                        .is_some_and(|after| !(word.ends_with(is_alphanumeric) && after.starts_with(is_alphanumeric)))
            });
            let length = label.map_or(c.len_utf8(), |word| word.len());
            named.extend(label.cloned());
            let (passed, after) = rest.split_at(length);
            inside = passed.ends_with(is_alphanumeric);
            rest = after;
        }
        named
    }

    /// Letters that stand alone: as capitals, or in brackets, or before `)`, `.` or `:`. `A` and `I` are words of their own, and
    /// need brackets, one of these signs, the end of the text or `option` and the like before them.
    fn letters_in(&self, text: &str) -> Vec<String> {
        if self.letters.is_empty() {
            return Vec::new();
        }
        let chars: Vec<char> = text.trim().chars().collect();
        let at = |i: usize| chars.get(i).copied();
        let mut letters = chars.iter().filter(|c| is_alphanumeric(**c));
        let only = letters.next().filter(|first| letters.all(|other| other == *first));
        let joins = |c: Option<char>| c.is_some_and(|c| is_alphanumeric(c) || matches!(c, '_' | '\'' | '’'));
        let mut named = Vec::new();
        for (i, c) in chars.iter().enumerate() {
            let letter = c.to_ascii_uppercase();
            let (before, after) = (i.checked_sub(1).and_then(at), at(i + 1));
            if !self.letters.contains(&letter) || joins(before) || joins(after) {
                continue;
            }
            let bracketed = matches!(before, Some('(' | '[' | '*')) && matches!(after, Some(')' | ']' | '*'));
            let listed =
                matches!(after, Some(')' | ':')) || (after == Some('.') && at(i + 2).is_none_or(char::is_whitespace));
            let alone = only == Some(c);
            let led = || {
                let before = || chars.iter().take(i).rev().skip_while(|c| c.is_whitespace());
                let ends_with =
                    |lead: &str| lead.chars().rev().eq(before().take(lead.len()).map(char::to_ascii_lowercase));
                ["option", "choice", "letter", "answer", "is"].into_iter().any(ends_with)
            };
            let counts = match letter {
                _ if alone || bracketed => true,
                _ if c.is_ascii_lowercase() => after == Some(')') || (listed && before.is_none()),
                'A' | 'I' => listed || after.is_none() || led(),
                _ => true,
            };
            if counts {
                named.push(letter.to_string());
            }
        }
        named
    }
}

/// A label in normal form, without brackets and signs at its ends; a single letter as a capital.
pub(super) fn label(text: &str) -> String {
    let normal = normal_form(text);
    let bare = normal.trim_matches(|c: char| !is_alphanumeric(c));
    let bare = if bare.is_empty() { normal.as_str() } else { bare };
    letter(bare).map_or_else(|| bare.to_string(), |letter| letter.to_string())
}

fn letter(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then(|| first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_label_is_named_by_nothing() {
        let reader = LabelReader::new(["", " ", "high tide"], false);
        assert_eq!(reader.named("at high tide, or not"), ["high tide"]);
        assert!(LabelReader::new(["", "\u{a0}"], false).named("anything").is_empty());
    }
}
