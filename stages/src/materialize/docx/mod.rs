//! DOCX: the paragraphs, lists and tables of Word documents.
//!
//! Read are the body with its content controls, tracked insertions, hyperlinks and text boxes, and the words of formulas.
//! Headers, footers, footnotes, comments and what was deleted are left out.

mod body;
mod numbering;
mod openviking;
mod package;
mod page;
mod styles;

use quick_xml::Reader;
use thiserror::Error;

pub use self::openviking::openviking_markdown;

use self::body::Block;
use self::numbering::Numbering;
use self::package::Package;
use self::styles::Styles;
use super::parser::Parsed;

/// Why a DOCX cannot be read, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DocxError {
    /// The bytes are no zip archive.
    #[error("expected a DOCX, which is a zip archive, found none: {0}")]
    Zip(String),
    /// A file in the archive cannot be unpacked.
    #[error("{name} in the DOCX cannot be unpacked: {why}")]
    Part {
        /// Its name in the archive.
        name: String,
        /// Why not.
        why: String,
    },
    /// A file in the archive unpacks to more than is allowed.
    #[error("{name} in the DOCX unpacks to more than {most} MiB")]
    TooLarge {
        /// Its name in the archive.
        name: String,
        /// MiB that are allowed.
        most: u64,
    },
    /// There is no main part.
    #[error("the zip archive is no DOCX: it has no {0}")]
    NoDocument(String),
    /// The main part is something else.
    #[error("the DOCX has no body")]
    NoBody,
    /// A part is no XML.
    #[error("{part} in the DOCX is broken XML at byte {at}: {why}")]
    Xml {
        /// Which part.
        part: &'static str,
        /// Where.
        at: u64,
        /// What is wrong.
        why: String,
    },
    /// Merged cells repeat so much text that no page can hold it.
    #[error("the DOCX has more than {0} MiB of text")]
    TooMuchText(usize),
}

impl DocxError {
    fn xml(part: &'static str, reader: &Reader<&[u8]>, error: &quick_xml::Error) -> Self {
        DocxError::Xml { part, at: reader.error_position(), why: error.to_string() }
    }
}

/// What is read of a document.
struct Docx {
    styles: Styles,
    numbering: Numbering,
    blocks: Vec<Block>,
}

impl Docx {
    fn read(bytes: &[u8]) -> Result<Self, DocxError> {
        let mut package = Package::open(bytes)?;
        let main = package.main_part()?;
        let styles = match package.related_part(&main, "/styles")? {
            Some(styles) => Styles::read(&styles)?,
            None => Styles::default(),
        };
        let numbering = match package.related_part(&main, "/numbering")? {
            Some(numbering) => Numbering::read(&numbering)?,
            None => Numbering::default(),
        };
        let xml = package.part(&main)?.ok_or(DocxError::NoDocument(main))?;
        Ok(Docx { styles, numbering, blocks: body::read(&xml)? })
    }
}

/// Whether the bytes are a zip archive that holds a Word document.
pub(super) fn is_docx(bytes: &[u8]) -> bool {
    Package::open(bytes).is_ok_and(|package| package.is_docx())
}

/// One page. A row of a table is a line `a | b | c` where the table stands; the title is the first paragraph in the style
/// `Title`, else the first heading of level 1.
///
/// # Errors
/// When it is no DOCX, or a broken one.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, DocxError> {
    page::parsed(&Docx::read(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materialize::made_documents::{archive, docx, paragraph};

    #[test]
    fn what_is_no_docx_says_so() {
        let message = |bytes: &[u8]| parse(bytes).expect_err("an error").to_string();
        assert!(message(b"PK\x03\x04 nothing").starts_with("expected a DOCX, which is a zip archive, found none: "));
        let other = archive(&[("xl/workbook.xml", b"<x/>")]);
        assert_eq!(message(&other), "the zip archive is no DOCX: it has no word/document.xml");
        assert!(!is_docx(&other) && !is_docx(b"") && is_docx(&docx("")));
        let broken = archive(&[("word/document.xml", b"<w:document><w:body></w:document>")]);
        let message_of_broken = message(&broken);
        assert!(
            message_of_broken.starts_with("the document in the DOCX is broken XML at byte 2"),
            "{message_of_broken}"
        );
        assert_eq!(message(&archive(&[("word/document.xml", b"<html/>")])), "the DOCX has no body");
        let mut cut = docx(&paragraph("N", &"text ".repeat(1000)));
        cut.truncate(cut.len() / 2);
        assert!(parse(&cut).is_err());
    }

    #[test]
    fn a_damaged_part_is_named() {
        let text: String = (0..2000).map(|i| format!("{} ", i * 7919 % 9973)).collect();
        let mut bytes = docx(&paragraph("N", &text));
        let at = bytes.len() / 4;
        bytes[at..at + 40].fill(0xff);
        let message = parse(&bytes).expect_err("an error").to_string();
        assert!(message.starts_with("word/document.xml in the DOCX cannot be unpacked: "), "{message}");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let spaces = vec![b' '; (256 << 20) + 1];
        let message = parse(&archive(&[("word/document.xml", &spaces)])).expect_err("an error").to_string();
        assert_eq!(message, "word/document.xml in the DOCX unpacks to more than 256 MiB");
    }
}
