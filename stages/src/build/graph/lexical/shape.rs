//! What a word looks like.

/// What a word of a script with blanks looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `WHO`, `BM25`.
    Acronym,
    /// `snake_case`, `nDCG`, `v2`.
    Identifier,
    /// `Tower`, `OpenViking`.
    Capital,
    /// Anything else.
    Plain,
}

/// Most characters of an acronym without digits: longer words in capitals are words that shout.
const LONGEST_ACRONYM: usize = 6;
/// Most characters of an acronym with digits.
const LONGEST_CODE: usize = 12;

/// The shape of `word`.
pub(super) fn shape(word: &str) -> Shape {
    let singular = word.strip_suffix('s').filter(|rest| rest.chars().count() > 1 && is_upper(rest)).unwrap_or(word);
    let length = singular.chars().count();
    let digits = singular.chars().any(char::is_numeric);
    let starts_upper = singular.chars().next().is_some_and(char::is_uppercase);
    if starts_upper && is_upper(singular) && length > 1 {
        let longest = if digits { LONGEST_CODE } else { LONGEST_ACRONYM };
        return if length <= longest { Shape::Acronym } else { Shape::Capital };
    }
    if !word.chars().any(char::is_alphabetic) || word.starts_with(char::is_numeric) {
        return Shape::Plain;
    }
    let inner_upper = word.chars().skip(1).any(char::is_uppercase);
    if word.contains('_') || (!starts_upper && (inner_upper || digits)) {
        return Shape::Identifier;
    }
    if starts_upper { Shape::Capital } else { Shape::Plain }
}

/// Whether there are capitals and no small letters.
pub(super) fn is_upper(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (word, expected) in [
            ("WHO", Shape::Acronym),
            ("APIs", Shape::Acronym),
            ("BM25", Shape::Acronym),
            ("GPT-4", Shape::Acronym),
            ("WARNING", Shape::Capital),
            ("Tower", Shape::Capital),
            ("OpenViking", Shape::Capital),
            ("Élan", Shape::Capital),
            ("nDCG", Shape::Identifier),
            ("cache_dir", Shape::Identifier),
            ("v2", Shape::Identifier),
            ("tower", Shape::Plain),
            ("300", Shape::Plain),
            ("30km", Shape::Plain),
            ("A", Shape::Capital),
        ] {
            assert_eq!(shape(word), expected, "{word}");
        }
    }
}
