//! Whitespace as the reference system strips it (spec/heta 11).

/// Whether `c` is whitespace: Unicode's White_Space and the four information separators U+001C to U+001F, which
/// [`char::is_whitespace`] lacks. A zero-width space and a byte order mark are none.
pub fn is_whitespace(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// `text` without whitespace at its ends.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_separators_are_stripped_and_zero_width_spaces_are_not() {
        assert_eq!(strip("\u{1c} \u{3000}a b\u{85}\u{2028}\u{1f}\n"), "a b");
        assert_eq!(strip("\u{feff}a\u{200b}"), "\u{feff}a\u{200b}");
        assert_eq!(strip(" \t\u{a0}"), "");
    }
}
