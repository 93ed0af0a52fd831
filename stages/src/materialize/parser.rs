//! The parsers: what turns the text of a document into pages.

use ragstage_cache::{KeyVisitor, Walk};

use super::open_tag::TooManyAttributes;
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
}

/// What a parser finds in a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ParsedText {
    /// The document's title, where the format has one.
    pub(super) title: Option<String>,
    /// Its pages in order.
    pub(super) pages: Vec<Page>,
}

impl Parser {
    const ALL: [Parser; 3] = [Parser::Text, Parser::Markdown, Parser::Html];

    /// The name in the artifact.
    pub(super) fn name(self) -> &'static str {
        match self {
            Parser::Text => "text",
            Parser::Markdown => "markdown",
            Parser::Html => "html",
        }
    }

    /// Bumped by hand when the parser finds something else in the same text.
    fn code_version(self) -> u64 {
        match self {
            Parser::Text | Parser::Markdown | Parser::Html => 1,
        }
    }

    /// Parses `text`, whose lines may end in LF, CR LF or CR; the pages have LF only.
    ///
    /// # Errors
    /// When it is HTML that would take far more work than a page of its size.
    pub(super) fn parse(self, text: &str) -> Result<ParsedText, TooManyAttributes> {
        let unified;
        let text = if text.contains('\r') {
            unified = text.replace("\r\n", "\n").replace('\r', "\n");
            &unified
        } else {
            text
        };
        match self {
            Parser::Text => Ok(text::parse(text)),
            Parser::Markdown => Ok(markdown::parse(text)),
            Parser::Html => html::parse(text),
        }
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
        let parsed = Parser::Markdown.parse("intro\r\n\r\n# One\r\rtext\r\n").expect("parsed");
        assert_eq!(parsed.pages[0].text, "intro\n\n# One\n\ntext\n");
        assert_eq!(parsed.pages[0].headings[0].offset, 7);
    }
}
