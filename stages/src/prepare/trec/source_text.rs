//! The text of a source file that may be older than Unicode.

use std::borrow::Cow;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::error::InputError;
use crate::prepare::lines::SourceBytes;

/// The text of `source`, unpacked where it is gzip: in the encoding of its byte order mark, else UTF-8 where it is valid, else
/// windows-1252, of which Latin-1 and ASCII are parts.
///
/// # Errors
/// When it is a gzip that cannot be unpacked.
pub(super) fn source_text<'a>(source: SourceBytes<'a>) -> Result<Cow<'a, str>, InputError> {
    Ok(match source.content()? {
        Cow::Borrowed(bytes) => decoded(bytes),
        Cow::Owned(bytes) => Cow::Owned(decoded(&bytes).into_owned()),
    })
}

fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The line (from 1) of the byte at `at` of `text`, for places that are asked for in ascending order.
pub(super) struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    /// At the start of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        LineCounter { text, at: 0, line: 1 }
    }

    /// The line of the byte at `at`.
    pub(super) fn line(&mut self, at: usize) -> u64 {
        let between = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.at = self.at.max(at);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn old_encodings_are_read() {
        let text = |bytes: &[u8]| {
            let source = SourceBytes { path: Path::new("f"), bytes };
            source_text(source).map(Cow::into_owned).map_err(|error| error.message)
        };
        assert_eq!(text("\u{feff}é".as_bytes()).as_deref(), Ok("é"));
        assert_eq!(text(b"caf\xe9 \x96 x").as_deref(), Ok("café – x"));
        assert_eq!(text(b"\xff\xfeh\0i\0").as_deref(), Ok("hi"));
        assert!(text(b"\x1f\x8b\x08").is_err());
    }

    #[test]
    fn lines_are_counted_on_the_way() {
        let mut lines = LineCounter::new("a\nb\n\nc");
        assert_eq!([0, 2, 2, 5].map(|at| lines.line(at)), [1, 2, 2, 4]);
    }
}
