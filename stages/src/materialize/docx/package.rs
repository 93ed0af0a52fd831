//! The parts of a DOCX: XML files in a zip archive.

use std::io::{Cursor, Read};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use super::DocxError;
use crate::materialize::encoding::{EncodingHints, decode};

/// The most that one part may unpack to: a thousand times the text of a long book, and far less than a zip bomb.
const MOST_UNPACKED: u64 = 256 << 20;

/// Where the main part is when nothing says otherwise.
const MAIN_PART: &str = "word/document.xml";

/// An open archive.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Package<'a> {
    /// Opens the archive.
    ///
    /// # Errors
    /// When the bytes are no zip archive, or one that is cut off.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, DocxError> {
        Ok(Package { archive: ZipArchive::new(Cursor::new(bytes)).map_err(|error| DocxError::Zip(error.to_string()))? })
    }

    /// Whether it holds a Word document.
    pub(super) fn is_docx(&self) -> bool {
        self.archive.index_for_name(MAIN_PART).is_some()
    }

    /// The name of the main part.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn main_part(&mut self) -> Result<String, DocxError> {
        let named = match self.part("_rels/.rels")? {
            Some(relations) => related(&relations, "", "/officeDocument")?,
            None => None,
        };
        let name = named.unwrap_or_else(|| MAIN_PART.to_string());
        if self.archive.index_for_name(&name).is_some() { Ok(name) } else { Err(DocxError::NoDocument(name)) }
    }

    /// The part of a kind, such as `/styles`, that goes with another part.
    ///
    /// # Errors
    /// When a part is damaged.
    pub(super) fn related_part(&mut self, name: &str, kind: &str) -> Result<Option<String>, DocxError> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let relations = format!("{folder}{}_rels/{file}.rels", if folder.is_empty() { "" } else { "/" });
        let Some(relations) = self.part(&relations)? else { return Ok(None) };
        match related(&relations, folder, kind)? {
            Some(related) => self.part(&related),
            None => Ok(None),
        }
    }

    /// The text of a part, `None` where there is none of that name.
    ///
    /// # Errors
    /// When it is damaged, encrypted or too large.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, DocxError> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(DocxError::Part { name: name.to_string(), why: error.to_string() }),
        };
        let mut bytes = Vec::new();
        let read = part.take(MOST_UNPACKED + 1).read_to_end(&mut bytes);
        read.map_err(|error| DocxError::Part { name: name.to_string(), why: error.to_string() })?;
        if bytes.len() as u64 > MOST_UNPACKED {
            return Err(DocxError::TooLarge { name: name.to_string(), most: MOST_UNPACKED >> 20 });
        }
        Ok(Some(decode(&bytes, EncodingHints::default()).text))
    }
}

/// The name of the part that the relations of a part in `folder` call its part of `kind`.
fn related(relations: &str, folder: &str, kind: &str) -> Result<Option<String>, DocxError> {
    let mut reader = Reader::from_str(relations);
    loop {
        match reader.read_event().map_err(|error| DocxError::xml("the relations", &reader, &error))? {
            Event::Start(element) | Event::Empty(element) => {
                if element.local_name().as_ref() == "Relationship"
                    && attribute(&element, "Type").is_some_and(|value| value.ends_with(kind))
                    && let Some(target) = attribute(&element, "Target")
                {
                    return Ok(Some(part_name(folder, &target)));
                }
            }
            Event::Eof => return Ok(None),
            _ => {}
        }
    }
}

/// The name of the part at `target`, seen from `folder`.
fn part_name(folder: &str, target: &str) -> String {
    let mut steps: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for step in target.split('/') {
        match step {
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.retain(|step| !step.is_empty() && *step != ".");
    steps.join("/")
}

/// An attribute by its name without prefix.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found =
        element.attributes().with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_from_where_they_are_told() {
        assert_eq!(part_name("", "word/document.xml"), "word/document.xml");
        assert_eq!(part_name("word", "styles.xml"), "word/styles.xml");
        assert_eq!(part_name("word", "/word/styles2.xml"), "word/styles2.xml");
        assert_eq!(part_name("word/sub", "../styles.xml"), "word/styles.xml");
        assert_eq!(part_name("", "../../styles.xml"), "styles.xml");
    }
}
