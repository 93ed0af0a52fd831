//! `documents`: what a benchmark's knowledge base is made from.

use ragstage_cache::Digest;
use ragstage_cache::table::{TableReader, TableWriter};

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::DecodeError;

/// One document of a benchmark (spec/heta 1, BenchmarkDocument).
///
/// Bytes given inline are in `data`; bytes in a file are found by `digest` among the benchmark's source files, so that no
/// path is part of the artifact. A document with neither is remote.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Unique within the benchmark.
    pub document_id: String,
    /// File name, without directories.
    pub name: String,
    /// Declared media type, e.g. `text/plain`.
    pub media_type: String,
    /// Digest of the document's bytes; `None` for a remote document or one whose file is missing.
    pub digest: Option<Digest>,
    /// Size in bytes, where known.
    pub size: Option<u64>,
    /// The bytes, when they were given inline.
    pub data: Option<Vec<u8>>,
    /// Where a remote document is.
    pub source_uri: Option<String>,
    /// Object-store style key, `raw/benchmarks/{benchmark}/{split}/{document_id}/{name}` (spec/heta 2).
    pub source_key: String,
    /// The dataset's own fields.
    pub metadata: Json,
}

/// The table of documents, in the adapter's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Documents {
    /// The rows.
    pub rows: Vec<Document>,
}

const NAME: &str = "documents";
const VERSION: u32 = 1;

impl Artifact for Documents {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let digests: Vec<Option<String>> = rows.iter().map(|row| row.digest.map(|d| d.hex())).collect();
        let metadata = rows.iter().map(|row| to_json(&row.metadata)).collect::<Result<Vec<_>, _>>()?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("document_id", rows.iter().map(|row| row.document_id.as_str()));
        table.text("name", rows.iter().map(|row| row.name.as_str()));
        table.text("media_type", rows.iter().map(|row| row.media_type.as_str()));
        table.opt_text("digest", digests.iter().map(Option::as_deref));
        table.opt_int("size", rows.iter().map(|row| row.size.map(|size| size as i64)));
        table.opt_binary("data", rows.iter().map(|row| row.data.as_deref()));
        table.opt_text("source_uri", rows.iter().map(|row| row.source_uri.as_deref()));
        table.text("source_key", rows.iter().map(|row| row.source_key.as_str()));
        table.text("metadata", metadata.iter().map(String::as_str));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut document_ids = table.text("document_id")?.into_iter();
        let mut names = table.text("name")?.into_iter();
        let mut media_types = table.text("media_type")?.into_iter();
        let mut digests = table.opt_text("digest")?.into_iter();
        let mut sizes = table.opt_number("size")?.into_iter();
        let mut data = table.opt_binary("data")?.into_iter();
        let mut source_uris = table.opt_text("source_uri")?.into_iter();
        let mut source_keys = table.text("source_key")?.into_iter();
        let mut metadata = table.text("metadata")?.into_iter();
        let mut rows = Vec::with_capacity(table.rows());
        for _ in 0..table.rows() {
            rows.push(Document {
                document_id: document_ids.next().unwrap_or_default(),
                name: names.next().unwrap_or_default(),
                media_type: media_types.next().unwrap_or_default(),
                digest: match digests.next().flatten() {
                    Some(text) => Some(text.parse().map_err(|e| DecodeError::Format(format!("digest: {e}")))?),
                    None => None,
                },
                size: sizes.next().flatten(),
                data: data.next().flatten(),
                source_uri: source_uris.next().flatten(),
                source_key: source_keys.next().unwrap_or_default(),
                metadata: from_json(&metadata.next().unwrap_or_default())?,
            });
        }
        Ok(Documents { rows })
    }
}
