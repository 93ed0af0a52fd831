//! Names: words in capitals, one after another.

use std::collections::BTreeSet;

use super::candidates::Form;
use super::script::Script;
use super::shape::{Shape, is_upper, shape};
use super::stop_words::is_stop_word;
use super::word::{Word, adjacent, gap};

/// Small words within names: `University of the Arts`, `Vincent van Gogh`.
const PARTICLES: [&str; 24] = [
    "af", "al", "av", "bin", "da", "dal", "de", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "el",
    "la", "le", "of", "the", "van", "von", "zu",
];

/// Most words of a name.
const MOST_WORDS: usize = 6;

/// How words are written in a passage, for what a capital at the start of a sentence says nothing of.
#[derive(Debug, Default)]
pub(super) struct Habits {
    /// Words, in small letters, that are met in small letters.
    small: BTreeSet<String>,
    /// Words, in small letters, that are met with a capital within a sentence.
    capital: BTreeSet<String>,
}

impl Habits {
    /// Takes note of a sentence.
    pub(super) fn see(&mut self, words: &[Word<'_>]) {
        for (i, word) in words.iter().enumerate().filter(|(_, word)| word.script == Script::Spaced) {
            let small = without_owner(word.text).to_lowercase();
            match shape(word.text) {
                Shape::Plain => self.small.insert(small),
                _ if i > 0 => self.capital.insert(small),
                _ => false,
            };
        }
    }
}

/// A name in a sentence: its first word and the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) form: Form,
}

/// A word without its possessive.
pub(super) fn without_owner(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// The names in a sentence, in order; they do not overlap.
pub(super) fn names(sentence: &str, words: &[Word<'_>], habits: &Habits) -> Vec<Name> {
    let shout = shouts(words);
    let shape_at = |i: usize| match words.get(i) {
        Some(word) if word.script != Script::Spaced => Shape::Plain,
        Some(word) if shout && is_upper(word.text) => Shape::Plain,
        Some(word) if is_stop_word(&without_owner(word.text).to_lowercase()) && shape(word.text) == Shape::Capital => {
            Shape::Plain
        }
        Some(word) => shape(without_owner(word.text)),
        None => Shape::Plain,
    };
    let mut found = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let form = match shape_at(i) {
            Shape::Plain => {
                i += 1;
                continue;
            }
            Shape::Identifier => {
                found.push(Name { first: i, end: i + 1, form: Form::Name });
                i += 1;
                continue;
            }
            Shape::Acronym => Form::Acronym,
            Shape::Capital => Form::Name,
        };
        let end = end_of_name(sentence, words, i, &shape_at);
        let mut first = i;
        if i == 0 && form == Form::Name {
            let small = words.first().map(|word| without_owner(word.text).to_lowercase()).unwrap_or_default();
            // A capital that the sentence owes to its place.
            if habits.small.contains(&small) || (end == 1 && !habits.capital.contains(&small)) {
                first = 1;
            }
        }
        if first < end {
            let form = if end - first > 1 || shape_at(first) != Shape::Acronym { Form::Name } else { Form::Acronym };
            found.push(Name { first, end, form });
        }
        i = end;
    }
    found
}

/// Whether most words of a sentence are in capitals throughout.
fn shouts(words: &[Word<'_>]) -> bool {
    let long = words.iter().filter(|word| word.script == Script::Spaced && word.text.chars().count() > 2);
    let (all, upper) = long.fold((0, 0), |(all, upper), word| (all + 1, upper + usize::from(is_upper(word.text))));
    all > 2 && upper * 2 > all
}

/// The word after the last one of the name that starts at `first`.
fn end_of_name(sentence: &str, words: &[Word<'_>], first: usize, shape_at: &dyn Fn(usize) -> Shape) -> usize {
    let capital = |i: usize| matches!(shape_at(i), Shape::Capital | Shape::Acronym);
    let joined = |i: usize, ampersand: bool| match (i.checked_sub(1).and_then(|before| words.get(before)), words.get(i))
    {
        (Some(before), Some(word)) => {
            without_owner(before.text) == before.text
                && (adjacent(sentence, before, word) || (ampersand && gap(sentence, before, word).trim() == "&"))
        }
        _ => false,
    };
    let particle = |i: usize| words.get(i).is_some_and(|word| PARTICLES.binary_search(&word.text).is_ok());
    let mut end = first + 1;
    while end - first < MOST_WORDS && joined(end, true) {
        if capital(end) {
            end += 1;
        } else if joined(end, false) && particle(end) && joined(end + 1, false) {
            let next = end + 1;
            if capital(next) {
                end = next + 1;
            } else if particle(next) && joined(next + 1, false) && capital(next + 1) {
                end = next + 2;
            } else {
                break;
            }
        } else if joined(end, false) && words.get(end).is_some_and(|word| is_number(word.text)) {
            return end + 1;
        } else {
            break;
        }
    }
    end
}

/// A whole number of at most four digits: `Apollo 11`.
fn is_number(word: &str) -> bool {
    (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::word::words;
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let sentences: Vec<&str> = text.split_inclusive(". ").collect();
        let mut habits = Habits::default();
        sentences.iter().for_each(|sentence| habits.see(&words(sentence)));
        let mut found = Vec::new();
        for sentence in sentences {
            let words = words(sentence);
            for name in names(sentence, &words, &habits) {
                let text = &sentence[words[name.first].start..words[name.end - 1].end];
                found.push(format!("{text}{}", if name.form == Form::Acronym { "*" } else { "" }));
            }
        }
        found
    }

    #[test]
    fn names_are_words_in_capitals_with_particles_between() {
        for (text, expected) in [
            ("The Eiffel Tower is in Paris.", vec!["Eiffel Tower", "Paris"]),
            ("He saw Vincent van Gogh and Lord of the Rings of old.", vec!["Vincent van Gogh", "Lord of the Rings"]),
            ("We met Smith's House of Lords.", vec!["Smith's", "House of Lords"]),
            ("It uses WHO data, BM25 and nDCG in cache_dir.", vec!["WHO*", "BM25*", "nDCG", "cache_dir"]),
            ("They flew Apollo 11 with Ernst & Young.", vec!["Apollo 11", "Ernst & Young"]),
            ("See Anna, Bert. ", vec!["Anna", "Bert"]),
            ("It weighs 300 kg and costs 5 EUR.", vec!["EUR*"]),
            ("Der Turm steht in Köln am Rhein.", vec!["Der Turm", "Köln", "Rhein"]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_capital_at_the_start_says_nothing_by_itself() {
        assert_eq!(of("Traders pay with silver."), Vec::<String>::new());
        assert_eq!(of("Paris is large. We like Paris."), ["Paris", "Paris"]);
        assert_eq!(of("Ships wait. The ships sail. Ships Company waits."), ["Company"]);
        assert_eq!(of("Marie Curie won."), ["Marie Curie"]);
        assert_eq!(of("WHO won."), ["WHO*"]);
    }

    #[test]
    fn a_line_that_shouts_names_nothing() {
        assert_eq!(of("HOW TO BUILD THE GRAPH"), Vec::<String>::new());
    }
}
