//! What a document is: by its declared media type, else by its file extension, else by its bytes.

use super::docx::is_docx;
use super::parser::Parser;

/// What is read, for people.
const READ: &str = "text, Markdown, HTML, CSV, PDF or DOCX";

/// Why no parser reads a document, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {READ}, found {found} ({evidence})")]
pub(super) struct UnsupportedContent {
    found: String,
    evidence: String,
}

impl UnsupportedContent {
    fn new(found: &str, evidence: impl Into<String>) -> Self {
        UnsupportedContent { found: found.to_string(), evidence: evidence.into() }
    }
}

/// Signatures at the very start of files that hold no text of their own, whatever they are declared to be.
const SIGNATURES: [(&[u8], &str); 10] = [
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document of before 2007, or one with a password"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PAR1", "a Parquet file"),
];

/// The signature of a PDF, which may have a few bytes of anything before it.
const PDF_SIGNATURE: &[u8] = b"%PDF-";

/// How far into a file the signature of a PDF may be, as readers of the format have it.
const PDF_SIGNATURE_WITHIN: usize = 1024;

/// The signature of a zip archive, which an Office document is too.
const ZIP_SIGNATURE: &[u8] = b"PK\x03\x04";

const DOCX_MEDIA_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// A media type without its parameters, lower-cased.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The `charset` parameter of a media type.
pub(super) fn charset(media_type: &str) -> Option<&str> {
    media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

/// The part of a file name after its last dot, lower-cased; empty when there is none.
pub(super) fn extension(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((_, extension)) => extension.to_ascii_lowercase(),
        None => String::new(),
    }
}

/// What a declaration says.
enum Declared {
    Readable(Parser),
    Unreadable(&'static str),
    Unknown,
}

fn by_media_type(essence: &str) -> Declared {
    match essence {
        "text/html" | "application/xhtml+xml" => Declared::Readable(Parser::Html),
        "text/markdown" | "text/x-markdown" => Declared::Readable(Parser::Markdown),
        "text/csv" | "application/csv" => Declared::Readable(Parser::Csv),
        "text/tab-separated-values" | "text/tsv" => Declared::Readable(Parser::Tsv),
        "text/rtf" | "application/rtf" => Declared::Unreadable("an RTF document"),
        "application/json" | "application/x-ndjson" | "application/xml" | "application/yaml" => {
            Declared::Readable(Parser::Text)
        }
        "application/pdf" => Declared::Readable(Parser::Pdf),
        DOCX_MEDIA_TYPE | "application/vnd.ms-word.document.macroenabled.12" => Declared::Readable(Parser::Docx),
        "application/zip" | "application/epub+zip" => Declared::Unreadable("a zip archive"),
        _ if essence.starts_with("text/") => Declared::Readable(Parser::Text),
        _ if essence.starts_with("image/") => Declared::Unreadable("an image"),
        _ if essence.starts_with("audio/") => Declared::Unreadable("a sound"),
        _ if essence.starts_with("video/") => Declared::Unreadable("a video"),
        _ if essence.starts_with("application/vnd.openxmlformats-")
            || essence.starts_with("application/vnd.ms-")
            || essence.starts_with("application/vnd.oasis.")
            || essence == "application/msword" =>
        {
            Declared::Unreadable("an Office document")
        }
        _ => Declared::Unknown,
    }
}

fn by_extension(extension: &str) -> Declared {
    match extension {
        "txt" | "text" | "log" | "rst" | "tex" | "json" | "jsonl" | "xml" | "yaml" | "yml" => {
            Declared::Readable(Parser::Text)
        }
        "md" | "markdown" | "mdown" | "mkd" => Declared::Readable(Parser::Markdown),
        "html" | "htm" | "xhtml" => Declared::Readable(Parser::Html),
        "csv" => Declared::Readable(Parser::Csv),
        "tsv" | "tab" => Declared::Readable(Parser::Tsv),
        "pdf" => Declared::Readable(Parser::Pdf),
        "docx" | "docm" => Declared::Readable(Parser::Docx),
        "doc" | "ppt" | "pptx" | "xls" | "xlsx" | "odt" | "ods" | "odp" => Declared::Unreadable("an Office document"),
        "rtf" => Declared::Unreadable("an RTF document"),
        "epub" | "zip" => Declared::Unreadable("a zip archive"),
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" => Declared::Unreadable("an image"),
        _ => Declared::Unknown,
    }
}

/// Whether the bytes open like an HTML document.
fn opens_as_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    [b"<!doctype html".as_slice(), b"<html"]
        .iter()
        .any(|opening| bytes.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening)))
}

/// The parser for a document.
///
/// A known signature of a binary format wins over any declaration. Then the declared media type counts, if it says
/// anything (`application/octet-stream` and types we do not know say nothing), then the file extension, then the bytes.
///
/// # Errors
/// When the document is of a kind that no parser reads.
pub(super) fn parser_for(media_type: &str, extension: &str, bytes: &[u8]) -> Result<Parser, UnsupportedContent> {
    if bytes.starts_with(PDF_SIGNATURE) {
        return Ok(Parser::Pdf);
    }
    let is_zip = bytes.starts_with(ZIP_SIGNATURE);
    if is_zip && is_docx(bytes) {
        return Ok(Parser::Docx);
    }
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Err(UnsupportedContent::new(found, "by its first bytes"));
    }
    let essence = essence(media_type);
    let declared = match (by_media_type(&essence), by_extension(extension)) {
        (Declared::Readable(parser), _) => Some(parser),
        (Declared::Unreadable(found), _) => {
            return Err(UnsupportedContent::new(found, format!("by its media type {essence}")));
        }
        (Declared::Unknown, Declared::Readable(parser)) => Some(parser),
        (Declared::Unknown, Declared::Unreadable(found)) => {
            return Err(UnsupportedContent::new(found, format!("by its file extension .{extension}")));
        }
        (Declared::Unknown, Declared::Unknown) => None,
    };
    match declared {
        // A broken DOCX has an error of its own, which says what is broken.
        Some(Parser::Docx) => Ok(Parser::Docx),
        _ if is_zip => Err(UnsupportedContent::new("a zip archive without a Word document", "by its first bytes")),
        Some(parser) => Ok(parser),
        None if opens_as_pdf(bytes) => Ok(Parser::Pdf),
        None if opens_as_html(bytes) => Ok(Parser::Html),
        None => Ok(Parser::Text),
    }
}

/// Whether the signature of a PDF is near the start.
fn opens_as_pdf(bytes: &[u8]) -> bool {
    let start = bytes.get(..PDF_SIGNATURE_WITHIN).unwrap_or(bytes);
    memchr::memmem::find(start, PDF_SIGNATURE).is_some()
}

/// Refuses text that only binary data decodes to: a NUL anywhere, or more than a tenth of control or replacement
/// characters.
///
/// # Errors
/// When the text is no text.
pub(super) fn require_text(text: &str) -> Result<(), UnsupportedContent> {
    let (mut characters, mut odd) = (0usize, 0usize);
    for c in text.chars() {
        characters += 1;
        match c {
            '\0' => {
                let evidence = format!("a NUL at character {characters}");
                return Err(UnsupportedContent::new("binary data", evidence));
            }
            '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}' => {}
            '\u{fffd}' => odd += 1,
            c if c.is_control() => odd += 1,
            _ => {}
        }
    }
    if odd * 10 > characters {
        let evidence = format!("{odd} of {characters} characters are controls or undecodable");
        return Err(UnsupportedContent::new("binary data", evidence));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_type_then_extension_then_bytes() {
        for (media_type, name, bytes, expected) in [
            ("text/plain; charset=utf-8", "a.html", b"<html>".as_slice(), Parser::Text),
            ("TEXT/HTML", "a", b"", Parser::Html),
            ("text/csv; header=present", "a", b"", Parser::Csv),
            ("", "a.tsv", b"", Parser::Tsv),
            ("text/plain", "a.csv", b"", Parser::Text),
            ("text/plain", "a.txt", b"%PDF-1.7", Parser::Pdf),
            ("application/pdf", "a", b"cut", Parser::Pdf),
            ("", "a", b"\r\n%PDF-1.4", Parser::Pdf),
            ("", "a.docx", b"PK\x03\x04", Parser::Docx),
            (DOCX_MEDIA_TYPE, "a", b"", Parser::Docx),
            ("application/octet-stream", "a.MD", b"", Parser::Markdown),
            ("", "a.htm", b"", Parser::Html),
            ("", "a", b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", Parser::Html),
            ("application/x-unheard-of", "a.bin", b"plain", Parser::Text),
            ("", "", b"", Parser::Text),
        ] {
            assert_eq!(parser_for(media_type, &extension(name), bytes), Ok(expected), "{media_type} {name}");
        }
    }

    #[test]
    fn what_no_parser_reads_is_named() {
        let message = |media_type, extension, bytes| match parser_for(media_type, extension, bytes) {
            Err(error) => error.to_string(),
            Ok(parser) => format!("{parser:?}"),
        };
        assert_eq!(
            message("application/msword; x=y", "txt", b""),
            "expected text, Markdown, HTML, CSV, PDF or DOCX, found an Office document (by its media type application/msword)"
        );
        assert_eq!(
            message("", "pptx", b""),
            "expected text, Markdown, HTML, CSV, PDF or DOCX, found an Office document (by its file extension .pptx)"
        );
        assert_eq!(
            message("text/plain", "txt", b"GIF89a"),
            "expected text, Markdown, HTML, CSV, PDF or DOCX, found a GIF image (by its first bytes)"
        );
        assert!(message("", "", b"PK\x03\x04").contains("zip archive"));
    }

    #[test]
    fn charset_parameter() {
        assert_eq!(charset("text/plain; format=flowed; Charset=\"latin1\""), Some("latin1"));
        assert_eq!(charset("text/plain"), None);
    }

    #[test]
    fn binary_data_is_no_text() {
        assert!(require_text("tab\tline\r\npage\u{c}").is_ok());
        assert!(require_text("").is_ok());
        assert!(require_text("a\0b").is_err());
        assert!(require_text("\u{1}\u{2}ab").is_err());
    }
}
