//! Lines of a source file.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{InputError, Place};
use crate::python::strip;

/// The bytes of a source file, and the path that errors show. Gzip is recognised by its magic number, not by the path.
#[derive(Debug, Clone, Copy)]
pub struct SourceBytes<'a> {
    /// Shown in errors.
    pub path: &'a Path,
    /// The file's bytes.
    pub bytes: &'a [u8],
}

/// One line that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Number in the file, from 1; blank lines count.
    pub number: u64,
    /// The text without its end.
    pub text: &'a str,
}

/// Where a line ends. U+0085, U+2028 and U+2029 are text everywhere: JSON allows them in a string (spec/heta 9, bug 22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// At LF, CR and CRLF.
    Plain,
    /// Also at VT, FF and U+001C to U+001E, as in the reference system. In JSON these must be escaped, so no row is torn.
    Json,
}

impl LineEnds {
    fn is_end(self, byte: u8) -> bool {
        matches!(byte, b'\n' | b'\r') || (self == LineEnds::Json && matches!(byte, 0x0b | 0x0c | 0x1c..=0x1e))
    }

    /// `bytes` cut into lines without their ends.
    fn cut(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = Some(bytes);
        std::iter::from_fn(move || {
            let bytes = rest?;
            let end = bytes.iter().position(|&byte| self.is_end(byte));
            let (line, after) = bytes.split_at_checked(end.unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
            rest = after.strip_prefix(b"\r\n").or(after.get(1..));
            Some(line)
        })
    }
}

impl<'a> SourceBytes<'a> {
    /// The bytes, unpacked where they are gzip.
    ///
    /// # Errors
    /// When the gzip is damaged, or unpacks to more than a dataset would; and when the bytes are a text in UTF-16.
    pub fn unpacked(&self) -> Result<Cow<'a, [u8]>, InputError> {
        let bytes = self.content()?;
        if is_utf16(&bytes) { Err(utf16(self.path)) } else { Ok(bytes) }
    }

    /// The same in whatever encoding.
    ///
    /// # Errors
    /// When the gzip is damaged, or unpacks to more than a dataset would.
    pub(super) fn content(&self) -> Result<Cow<'a, [u8]>, InputError> {
        if !self.bytes.starts_with(&[0x1f, 0x8b]) {
            return Ok(Cow::Borrowed(self.bytes));
        }
        self.unpacked_to(most_unpacked(self.bytes.len() as u64)).map(Cow::Owned)
    }

    /// The gzip's content, where it is no more than `most` bytes.
    fn unpacked_to(&self, most: u64) -> Result<Vec<u8>, InputError> {
        let error = |message: String| InputError::new(Place::file(self.path), message);
        let mut unpacked = Vec::new();
        match MultiGzDecoder::new(self.bytes).take(most.saturating_add(1)).read_to_end(&mut unpacked) {
            Ok(size) if size as u64 > most => {
                let packed = self.bytes.len();
                Err(error(format!("a gzip of {packed} bytes that unpacks to more than {most}"))
                    .hint("unpack the file if it is what it should be"))
            }
            Ok(_) => Ok(unpacked),
            Err(damage) => Err(error(format!("damaged gzip: {damage}")).hint("fetch the file again")),
        }
    }
}

/// Whether `bytes` begin with a byte order mark of UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn utf16(path: &Path) -> InputError {
    InputError::new(Place::file(path), "expected UTF-8, found UTF-16").hint("save the file as UTF-8")
}

/// How many bytes a gzip of `packed` bytes may unpack to. No text packs a thousandfold; what does would only fill memory.
fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(1000).clamp(64 << 20, 8 << 30)
}

/// The lines of `bytes` that are not blank; a byte order mark is no part of the first one. Lines that are no UTF-8 are
/// errors.
pub(super) fn lines<'a>(path: &Path, bytes: &'a [u8], ends: LineEnds, errors: &mut Vec<InputError>) -> Vec<Line<'a>> {
    if is_utf16(bytes) {
        errors.push(utf16(path));
        return Vec::new();
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    for (number, line) in (1u64..).zip(ends.cut(bytes)) {
        match std::str::from_utf8(line) {
            Ok(text) if strip(text).is_empty() => {}
            Ok(text) => lines.push(Line { number, text }),
            Err(error) => {
                let (valid, rest) = line.split_at_checked(error.valid_up_to()).unwrap_or((line, &[]));
                let column = String::from_utf8_lossy(valid).chars().count() as u64 + 1;
                let found = rest.first().map(|byte| format!(", found the byte 0x{byte:02x}")).unwrap_or_default();
                let error = InputError::new(Place::at(path, number, column), format!("expected UTF-8{found}"));
                errors.push(error.hint("save the file as UTF-8"));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Line<'_>>, Vec<InputError>) {
        let mut errors = Vec::new();
        (lines(Path::new("f"), bytes, LineEnds::Plain, &mut errors), errors)
    }

    #[test]
    fn lines_end_at_lf_cr_and_crlf_only() {
        let (found, errors) = read("\u{feff}a\r\n \n\nb\u{2028}\u{85}\u{c}c\rd\r\re\n".as_bytes());
        let texts: Vec<(u64, &str)> = found.iter().map(|line| (line.number, line.text)).collect();
        assert_eq!(texts, [(1, "a"), (4, "b\u{2028}\u{85}\u{c}c"), (5, "d"), (7, "e")]);
        assert!(errors.is_empty());
    }

    #[test]
    fn rows_of_json_end_at_control_characters_too() {
        let bytes = "a\u{b}b\u{c}c\u{1c}d\u{1d}e\u{1e}f\u{1f}g\u{2029}h\r\n".as_bytes();
        let found = lines(Path::new("f"), bytes, LineEnds::Json, &mut Vec::new());
        let texts: Vec<&str> = found.iter().map(|line| line.text).collect();
        assert_eq!(texts, ["a", "b", "c", "d", "e", "f\u{1f}g\u{2029}h"]);
    }

    #[test]
    fn bad_bytes_are_placed_in_characters() {
        let (found, errors) = read(b"ok\n\xc3\xa9\xc3\xa9\xffx\nfine");
        assert_eq!(found.len(), 2);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].place, Place::at("f", 2, 3));
        assert_eq!(errors[0].message, "expected UTF-8, found the byte 0xff");
        let (found, errors) = read(b"\xff\xfea\0");
        assert_eq!((found.len(), errors.len()), (0, 1));
    }

    #[test]
    fn gzip_is_known_by_its_bytes() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(b"hello").unwrap();
        let packed = writer.finish().unwrap();
        let source = SourceBytes { path: Path::new("corpus.jsonl"), bytes: &packed };
        assert_eq!(source.unpacked().unwrap().as_ref(), b"hello");
        let torn = SourceBytes { path: Path::new("corpus.jsonl"), bytes: &packed[..packed.len() - 6] };
        assert!(torn.unpacked().unwrap_err().message.starts_with("damaged gzip"));
    }

    #[test]
    fn gzip_that_unpacks_without_measure_is_refused() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(&[b' '; 10_000]).unwrap();
        let packed = writer.finish().unwrap();
        let source = SourceBytes { path: Path::new("corpus.jsonl"), bytes: &packed };
        assert_eq!(source.unpacked_to(10_000).unwrap().len(), 10_000);
        let error = source.unpacked_to(9_999).unwrap_err();
        assert_eq!(error.place, Place::file("corpus.jsonl"));
        assert!(error.message.ends_with("unpacks to more than 9999"), "{}", error.message);
        assert_eq!([0, 1 << 20, 1 << 30].map(most_unpacked), [64 << 20, 1000 << 20, 8 << 30]);
    }
}
