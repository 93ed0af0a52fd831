//! Words of a line: what stands between white space.

/// Where the word that begins at `at` ends. Every byte up to the blank is white space.
pub fn word_end(bytes: &[u8], mut at: usize) -> usize {
    // Eight bytes at once: the lowest bit that is set belongs to the first byte below 0x21.
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let blanks = eight.wrapping_sub(0x2121_2121_2121_2121) & !eight & 0x8080_8080_8080_8080;
        if blanks != 0 {
            return at + (blanks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| *byte > b' ') {
        at += 1;
    }
    at
}

/// Where the white space of the line that begins at `at` ends.
pub fn blanks_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| *byte <= b' ' && *byte != b'\n') {
        at += 1;
    }
    at
}

/// Where the line that `at` is in ends: at its line feed, or with the bytes.
pub fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end)
}

/// The words of a line with the places where they begin.
pub fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = blanks_end(line, at);
        let end = word_end(line, start);
        at = end;
        line.get(start..end).filter(|word| !word.is_empty()).map(|word| (start, word))
    })
}

/// The column, in characters from 1, of byte `at` of `line`.
pub fn column(line: &[u8], at: usize) -> u64 {
    String::from_utf8_lossy(line.get(..at).unwrap_or(line)).chars().count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_splitting_gives() {
        for text in ["a b", "  one\ttwo   three-is-longer é\u{80}ü4567 x", "", " ", "12345678", "1234567 9", "a\rb"] {
            let found: Vec<&[u8]> = words(text.as_bytes()).map(|(_, word)| word).collect();
            let expected: Vec<&[u8]> =
                text.split([' ', '\t', '\r']).filter(|w| !w.is_empty()).map(str::as_bytes).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!((line_end(b"ab\nc", 0), line_end(b"ab\nc", 3)), (2, 4));
        assert_eq!(column("é b".as_bytes(), 3), 3);
    }
}
