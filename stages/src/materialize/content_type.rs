//! What a document is: by its declared media type, else by its file extension, else by its bytes.

use super::parser::Parser;

/// Why no parser reads a document, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected text, Markdown or HTML, found {found} ({evidence})")]
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
const SIGNATURES: [(&[u8], &str); 12] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive, as Office documents and e-books are"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document of before 2007"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PAR1", "a Parquet file"),
];

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
        "text/rtf" | "application/rtf" => Declared::Unreadable("an RTF document"),
        "application/json" | "application/x-ndjson" | "application/xml" | "application/yaml" => {
            Declared::Readable(Parser::Text)
        }
        "application/pdf" => Declared::Unreadable("a PDF document"),
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
        "txt" | "text" | "log" | "rst" | "tex" | "csv" | "tsv" | "json" | "jsonl" | "xml" | "yaml" | "yml" => {
            Declared::Readable(Parser::Text)
        }
        "md" | "markdown" | "mdown" | "mkd" => Declared::Readable(Parser::Markdown),
        "html" | "htm" | "xhtml" => Declared::Readable(Parser::Html),
        "pdf" => Declared::Unreadable("a PDF document"),
        "doc" | "docx" | "ppt" | "pptx" | "xls" | "xlsx" | "odt" | "ods" | "odp" => {
            Declared::Unreadable("an Office document")
        }
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
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Err(UnsupportedContent::new(found, "by its first bytes"));
    }
    let essence = essence(media_type);
    match by_media_type(&essence) {
        Declared::Readable(parser) => return Ok(parser),
        Declared::Unreadable(found) => {
            return Err(UnsupportedContent::new(found, format!("by its media type {essence}")));
        }
        Declared::Unknown => {}
    }
    match by_extension(extension) {
        Declared::Readable(parser) => Ok(parser),
        Declared::Unreadable(found) => {
            Err(UnsupportedContent::new(found, format!("by its file extension .{extension}")))
        }
        Declared::Unknown if opens_as_html(bytes) => Ok(Parser::Html),
        Declared::Unknown => Ok(Parser::Text),
    }
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
            ("text/csv", "a", b"", Parser::Text),
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
            message("text/plain", "txt", b"%PDF-1.7"),
            "expected text, Markdown or HTML, found a PDF document (by its first bytes)"
        );
        assert_eq!(
            message("application/pdf; x=y", "txt", b""),
            "expected text, Markdown or HTML, found a PDF document (by its media type application/pdf)"
        );
        assert_eq!(
            message("", "docx", b""),
            "expected text, Markdown or HTML, found an Office document (by its file extension .docx)"
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
