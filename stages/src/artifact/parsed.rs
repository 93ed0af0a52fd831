//! `parsed`: a unit's documents as pages of text.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use super::json::{from_json, to_json};
use crate::contract::Artifact;
use crate::error::DecodeError;

/// A heading within a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Where the heading's line starts in the page's text, in Unicode code points.
    pub offset: u64,
    /// 1 for the topmost.
    pub level: u8,
    /// The heading's words.
    pub title: String,
}

/// A page of text. A format without pages has one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Page {
    /// From 0.
    pub index: u32,
    /// The text.
    pub text: String,
    /// Its headings in order.
    #[serde(default)]
    pub headings: Vec<Heading>,
}

/// A parsed document, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedDocument {
    /// The benchmark's document id.
    pub document_id: String,
    /// File name.
    pub name: String,
    /// `raw/benchmarks/...`.
    pub source_key: String,
    /// Which parser read it: `text`, `markdown`, `html`, `csv`, `tsv`, `pdf`, `docx`; empty when it failed.
    pub parser: String,
    /// The document's title, where the format has one.
    pub title: Option<String>,
    /// Its pages in order.
    pub pages: Vec<Page>,
    /// Why it could not be parsed; then there are no pages.
    pub error: Option<String>,
}

/// The table of a unit's parsed documents, in the unit's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedDocuments {
    /// The rows.
    pub rows: Vec<ParsedDocument>,
}

const NAME: &str = "parsed";
const VERSION: u32 = 1;

impl Artifact for ParsedDocuments {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let headings = rows
            .iter()
            .map(|row| to_json(&row.pages.iter().map(|page| &page.headings).collect::<Vec<_>>()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("document_id", rows.iter().map(|row| row.document_id.as_str()));
        table.text("name", rows.iter().map(|row| row.name.as_str()));
        table.text("source_key", rows.iter().map(|row| row.source_key.as_str()));
        table.text("parser", rows.iter().map(|row| row.parser.as_str()));
        table.opt_text("title", rows.iter().map(|row| row.title.as_deref()));
        table.int_list("page_index", rows.iter().map(|row| row.pages.iter().map(|page| i64::from(page.index))));
        table.text_list("page_text", rows.iter().map(|row| row.pages.iter().map(|page| page.text.as_str())));
        table.text("page_headings", headings.iter().map(String::as_str));
        table.opt_text("error", rows.iter().map(|row| row.error.as_deref()));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let names = table.text("name")?;
        let source_keys = table.text("source_key")?;
        let parsers = table.text("parser")?;
        let titles = table.opt_text("title")?;
        let indexes = table.int_list("page_index")?;
        let mut texts = table.text_list("page_text")?.into_iter();
        let headings = table.text("page_headings")?;
        let errors = table.opt_text("error")?;
        let mut rows = Vec::with_capacity(table.rows());
        for (i, document_id) in table.text("document_id")?.into_iter().enumerate() {
            let texts = texts.next().unwrap_or_default();
            let page_headings: Vec<Vec<Heading>> = from_json(&headings[i])?;
            let indexes = &indexes[i];
            if [indexes.len(), page_headings.len()] != [texts.len(); 2] {
                return Err(DecodeError::Format(format!("row {i}: expected {} pages in every column", texts.len())));
            }
            let mut pages = Vec::with_capacity(texts.len());
            for ((text, &index), headings) in texts.into_iter().zip(indexes).zip(page_headings) {
                let index = u32::try_from(index)
                    .map_err(|_| DecodeError::Format(format!("row {i}: {index} is no index of a page")))?;
                pages.push(Page { index, text, headings });
            }
            rows.push(ParsedDocument {
                document_id,
                name: names[i].clone(),
                source_key: source_keys[i].clone(),
                parser: parsers[i].clone(),
                title: titles[i].clone(),
                pages,
                error: errors[i].clone(),
            });
        }
        Ok(ParsedDocuments { rows })
    }
}
