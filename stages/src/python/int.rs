//! Whole numbers in texts.

/// The zero of every script's decimal digits (general category Nd, Unicode 14); its nine others follow it.
const ZEROS: [char; 66] = [
    '0',
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{de6}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17e0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19d0}',
    '\u{1a80}',
    '\u{1a90}',
    '\u{1b50}',
    '\u{1bb0}',
    '\u{1c40}',
    '\u{1c50}',
    '\u{a620}',
    '\u{a8d0}',
    '\u{a900}',
    '\u{a9d0}',
    '\u{a9f0}',
    '\u{aa50}',
    '\u{abf0}',
    '\u{ff10}',
    '\u{104a0}',
    '\u{10d30}',
    '\u{11066}',
    '\u{110f0}',
    '\u{11136}',
    '\u{111d0}',
    '\u{112f0}',
    '\u{11450}',
    '\u{114d0}',
    '\u{11650}',
    '\u{116c0}',
    '\u{11730}',
    '\u{118e0}',
    '\u{11950}',
    '\u{11c50}',
    '\u{11d50}',
    '\u{11da0}',
    '\u{16a60}',
    '\u{16ac0}',
    '\u{16b50}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
    '\u{1e140}',
    '\u{1e2f0}',
    '\u{1e950}',
    '\u{1fbf0}',
];

/// The value of a decimal digit of any script.
pub fn digit(c: char) -> Option<u32> {
    let at = ZEROS.partition_point(|&zero| zero <= c).checked_sub(1)?;
    let value = u32::from(c) - u32::from(*ZEROS.get(at)?);
    (value < 10).then_some(value)
}

/// `text` with every decimal digit as an ASCII one, and without the single underscores that may stand between two digits.
/// `None` where an underscore stands elsewhere. Rust then parses what Python does.
pub fn decimal(text: &str) -> Option<String> {
    let text: String =
        text.chars().map(|c| digit(c).and_then(|value| char::from_digit(value, 10)).unwrap_or(c)).collect();
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let parts: Vec<&str> = text.split('_').collect();
    let between_digits = |pair: &[&str]| match pair {
        [before, after] => is_digit(before.chars().next_back()) && is_digit(after.chars().next()),
        _ => true,
    };
    parts.windows(2).all(between_digits).then(|| parts.concat())
}

/// `text` as `int` reads it: a sign and digits, with single underscores between them and whitespace around. The four
/// information separators are no whitespace here, although `strip` strips them. `None` also beyond 64 bits.
pub fn int(text: &str) -> Option<i64> {
    let text = decimal(text.trim())?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_script_are_digits() {
        assert!(ZEROS.is_sorted());
        for (text, value) in [("３", 3), (" -５_0\u{85}", -50), ("\u{2028}٣४", 34), ("+1_0", 10), ("007", 7), ("𝟗", 9)]
        {
            assert_eq!(int(text), Some(value), "{text:?}");
        }
        for text in ["", "+", "1__0", "_1", "1_", "+ 5", "1.0", "²", "①", "\u{1c}5", "9223372036854775808"] {
            assert_eq!(int(text), None, "{text:?}");
        }
    }
}
