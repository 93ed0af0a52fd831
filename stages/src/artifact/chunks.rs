//! `chunks`: the passages that are indexed and retrieved.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use crate::contract::Artifact;
use crate::error::DecodeError;

/// A passage of one page of one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// `chunk_` + 16 hexadecimal digits of blake3 over document id, page, offsets and text.
    pub chunk_id: String,
    /// The benchmark's document id.
    pub document_id: String,
    /// File name.
    pub name: String,
    /// `raw/benchmarks/...`.
    pub source_key: String,
    /// The document's title, where it has one.
    pub title: Option<String>,
    /// The page, from 0.
    pub page_index: u32,
    /// Position among the document's chunks, from 0.
    pub chunk_index: u32,
    /// Start in the page's text, in Unicode code points.
    pub start: u64,
    /// End (exclusive) in the page's text, in Unicode code points.
    pub end: u64,
    /// Length in the splitter's tokens.
    pub tokens: u64,
    /// The headings above it, outermost first, joined by ` > `.
    pub heading: Option<String>,
    /// The page's text from `start` to `end`.
    pub text: String,
}

/// The table of a unit's chunks, in document order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunks {
    /// The rows.
    pub rows: Vec<Chunk>,
}

const NAME: &str = "chunks";
const VERSION: u32 = 1;

impl Artifact for Chunks {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("chunk_id", rows.iter().map(|row| row.chunk_id.as_str()));
        table.text("document_id", rows.iter().map(|row| row.document_id.as_str()));
        table.text("name", rows.iter().map(|row| row.name.as_str()));
        table.text("source_key", rows.iter().map(|row| row.source_key.as_str()));
        table.opt_text("title", rows.iter().map(|row| row.title.as_deref()));
        table.int("page_index", rows.iter().map(|row| i64::from(row.page_index)));
        table.int("chunk_index", rows.iter().map(|row| i64::from(row.chunk_index)));
        table.int("start", rows.iter().map(|row| row.start as i64));
        table.int("end", rows.iter().map(|row| row.end as i64));
        table.int("tokens", rows.iter().map(|row| row.tokens as i64));
        table.opt_text("heading", rows.iter().map(|row| row.heading.as_deref()));
        table.text("text", rows.iter().map(|row| row.text.as_str()));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut chunk_ids = table.text("chunk_id")?.into_iter();
        let mut document_ids = table.text("document_id")?.into_iter();
        let mut names = table.text("name")?.into_iter();
        let mut source_keys = table.text("source_key")?.into_iter();
        let mut titles = table.opt_text("title")?.into_iter();
        let pages = table.number("page_index")?;
        let indexes = table.number("chunk_index")?;
        let starts = table.number("start")?;
        let ends = table.number("end")?;
        let tokens = table.number("tokens")?;
        let mut headings = table.opt_text("heading")?.into_iter();
        let mut texts = table.text("text")?.into_iter();
        let rows = (0..table.rows())
            .map(|i| Chunk {
                chunk_id: chunk_ids.next().unwrap_or_default(),
                document_id: document_ids.next().unwrap_or_default(),
                name: names.next().unwrap_or_default(),
                source_key: source_keys.next().unwrap_or_default(),
                title: titles.next().flatten(),
                page_index: pages[i],
                chunk_index: indexes[i],
                start: starts[i],
                end: ends[i],
                tokens: tokens[i],
                heading: headings.next().flatten(),
                text: texts.next().unwrap_or_default(),
            })
            .collect();
        Ok(Chunks { rows })
    }
}
