//! Letters and numbers.

use unicode_normalization::char::is_combining_mark;

/// Whether `c` is a letter (general category L) or a number (N). [`char::is_alphanumeric`] goes by the Alphabetic
/// property, which takes in combining vowel signs and circled letters too (spec/heta 11). Of what Unicode 14 assigns this is
/// exactly what the reference system takes; newer letters are letters here. A word (`\w`) is of these and `_`.
pub fn is_alphanumeric(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    let circled = matches!(
        c,
        '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}'
    );
    c.is_alphanumeric() && !circled && !is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_circled_letters_are_neither() {
        for c in ['a', 'ß', '珊', '7', '٣', '½', 'Ⅷ', '①'] {
            assert!(is_alphanumeric(c), "{c}");
        }
        for c in ['\u{301}', '\u{93f}', '\u{345}', 'ⓐ', '🅰', '_', '-'] {
            assert!(!is_alphanumeric(c), "{c:?}");
        }
    }
}
