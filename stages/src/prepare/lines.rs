//! Lines of a source file.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::whitespace::strip;
use crate::error::{InputError, Place};

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

impl<'a> SourceBytes<'a> {
    /// The bytes, unpacked where they are gzip.
    pub(super) fn unpacked(&self) -> Result<Cow<'a, [u8]>, InputError> {
        if !self.bytes.starts_with(&[0x1f, 0x8b]) {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let mut unpacked = Vec::new();
        match MultiGzDecoder::new(self.bytes).read_to_end(&mut unpacked) {
            Ok(_) => Ok(Cow::Owned(unpacked)),
            Err(error) => {
                Err(InputError::new(Place::file(self.path), format!("damaged gzip: {error}"))
                    .hint("fetch the file again"))
            }
        }
    }
}

/// The lines of `bytes` that are not blank. A line ends at LF or CRLF and nowhere else (U+2028 and its kin are text); a
/// byte order mark is no part of the first one. Lines that are no UTF-8 are errors.
pub(super) fn lines<'a>(path: &Path, bytes: &'a [u8], errors: &mut Vec<InputError>) -> Vec<Line<'a>> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let error = InputError::new(Place::file(path), "expected UTF-8, found UTF-16");
        errors.push(error.hint("save the file as UTF-8"));
        return Vec::new();
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    for (number, line) in (1u64..).zip(bytes.split(|&byte| byte == b'\n')) {
        match std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
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
        (lines(Path::new("f"), bytes, &mut errors), errors)
    }

    #[test]
    fn lines_end_at_lf_and_crlf_only() {
        let (found, errors) = read("\u{feff}a\r\n \n\nb\u{2028}\u{85}c\rd\n".as_bytes());
        assert_eq!(found, [Line { number: 1, text: "a" }, Line { number: 4, text: "b\u{2028}\u{85}c\rd" }]);
        assert!(errors.is_empty());
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
}
