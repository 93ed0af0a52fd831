//! The parsers: what turns a document into pages.

use ragstage_cache::{KeyVisitor, Walk};
use thiserror::Error;

use super::content_type::{UnsupportedContent, require_text};
use super::csv::{self, CsvError};
use super::docx::{self, DocxError};
use super::encoding::{EncodingHints, decode};
use super::open_tag::TooManyAttributes;
use super::pdf::{self, PdfError};
use super::{html, markdown, text};
use crate::artifact::Page;

/// A parser, by the format it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parser {
    /// Plain text.
    Text,
    /// CommonMark.
    Markdown,
    /// HTML.
    Html,
    /// Values between commas, or whatever delimiter there is.
    Csv,
    /// Values between tabs.
    Tsv,
    /// PDF.
    Pdf,
    /// Word documents.
    Docx,
}

/// What a parser finds in a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Parsed {
    /// The document's title, where the format has one.
    pub(super) title: Option<String>,
    /// Its pages in order.
    pub(super) pages: Vec<Page>,
    /// The encoding that it was read in, where the format is text.
    pub(super) encoding: Option<&'static str>,
}

/// Why a parser does not read a document, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ParseError {
    #[error(transparent)]
    Content(#[from] UnsupportedContent),
    #[error(transparent)]
    Html(#[from] TooManyAttributes),
    #[error(transparent)]
    Csv(#[from] CsvError),
    #[error(transparent)]
    Pdf(#[from] PdfError),
    #[error(transparent)]
    Docx(#[from] DocxError),
}

impl Parser {
    const ALL: [Parser; 7] =
        [Parser::Text, Parser::Markdown, Parser::Html, Parser::Csv, Parser::Tsv, Parser::Pdf, Parser::Docx];

    /// The name in the artifact.
    pub(super) fn name(self) -> &'static str {
        match self {
            Parser::Text => "text",
            Parser::Markdown => "markdown",
            Parser::Html => "html",
            Parser::Csv => "csv",
            Parser::Tsv => "tsv",
            Parser::Pdf => "pdf",
            Parser::Docx => "docx",
        }
    }

    /// Bumped by hand when the parser finds something else in the same document.
    fn code_version(self) -> u64 {
        match self {
            Parser::Text | Parser::Markdown | Parser::Csv | Parser::Tsv | Parser::Pdf | Parser::Docx => 1,
            Parser::Html => 2,
        }
    }

    /// Parses a document. Formats that are text are decoded first, and their lines may end in LF, CR LF or CR; the pages have
    /// LF only.
    ///
    /// # Errors
    /// When the document is broken, is no text although its format is, or would take far more work than one of its size.
    pub(super) fn parse(self, bytes: &[u8], hints: EncodingHints<'_>) -> Result<Parsed, ParseError> {
        match self {
            Parser::Pdf => return Ok(pdf::parse(bytes)?),
            Parser::Docx => return Ok(docx::parse(bytes)?),
            Parser::Text | Parser::Markdown | Parser::Html | Parser::Csv | Parser::Tsv => {}
        }
        let decoded = decode(bytes, EncodingHints { html: self == Parser::Html, ..hints });
        require_text(&decoded.text)?;
        let text = if decoded.text.contains('\r') {
            decoded.text.replace("\r\n", "\n").replace('\r', "\n")
        } else {
            decoded.text
        };
        let parsed = match self {
            Parser::Markdown => markdown::parse(&text),
            Parser::Html => html::parse(&text)?,
            Parser::Csv | Parser::Tsv => csv::parse(&text, self == Parser::Tsv)?,
            Parser::Text | Parser::Pdf | Parser::Docx => text::parse(&text),
        };
        Ok(Parsed { encoding: Some(decoded.encoding), ..parsed })
    }
}

/// The parsers and their versions, as keys hold them.
pub(super) struct ParserTable;

impl Walk for ParserTable {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("parsers", "parsers");
        for parser in Parser::ALL {
            v.uint(parser.name(), parser.code_version());
        }
        v.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_unified_before_offsets_are_taken() {
        let bytes = b"intro\r\n\r\n# One\r\rtext\r\n";
        let parsed = Parser::Markdown.parse(bytes, EncodingHints::default()).expect("parsed");
        assert_eq!(parsed.pages[0].text, "intro\n\n# One\n\ntext\n");
        assert_eq!(parsed.pages[0].headings[0].offset, 7);
        assert_eq!(parsed.encoding, Some("UTF-8"));
    }

    #[test]
    fn binary_data_is_no_table() {
        let error = Parser::Csv.parse(b"a,b\n\0,1\n", EncodingHints::default()).expect_err("no text");
        assert!(error.to_string().contains("binary data"), "{error}");
    }
}
