//! Which script a character is of, as far as words are found differently in it.

use unicode_normalization::char::is_combining_mark;

/// A script, as far as words are found differently in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Words stand apart: Latin, Cyrillic, Arabic, digits, ...
    Spaced,
    /// Ideographs.
    Han,
    /// Hiragana: in Japanese mostly endings and particles.
    Hiragana,
    /// Katakana: in Japanese mostly loan words and names.
    Katakana,
    /// Korean: words stand apart, with particles at their end.
    Hangul,
}

/// The script of a character; `None` for what is in no word. Ranges are of Unicode 16.
pub(super) fn script_of(c: char) -> Option<Script> {
    match u32::from(c) {
        0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFD => Some(Script::Han),
        0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F => Some(Script::Hiragana),
        0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF => Some(Script::Katakana),
        0x1100..=0x11FF | 0xA960..=0xA97F | 0xAC00..=0xD7A3 | 0xD7B0..=0xD7FB => Some(Script::Hangul),
        _ if c.is_alphanumeric() || c == '_' || is_combining_mark(c) => Some(Script::Spaced),
        _ => None,
    }
}
