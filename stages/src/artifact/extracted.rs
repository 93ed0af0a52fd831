//! `extracted`: what each chunk says of entities and relations, before anything is merged.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::{DecodeError, RowError};

/// An entity as one chunk names it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FoundEntity {
    /// The name, as the chunk writes it; no other entity of the chunk has the same canonical name.
    pub name: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// A finer kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// What the chunk says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Json::is_empty")]
    pub attributes: Json,
}

/// A relation as one chunk states it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FoundRelation {
    /// The name of an entity of the chunk.
    pub source: String,
    /// The name of another entity of the chunk.
    pub target: String,
    /// What kind of relation it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the chunk says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How often the chunk states it.
    pub weight: u64,
}

/// Two names of one thing, as in `World Health Organization (WHO)`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoundAlias {
    /// The name in full.
    pub long: String,
    /// The abbreviation.
    pub short: String,
}

/// What one chunk says. This is the value that the lexical extractor's row cache keeps, as JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChunkFacts {
    /// Its entities.
    pub entities: Vec<FoundEntity>,
    /// Its relations.
    pub relations: Vec<FoundRelation>,
    /// Abbreviations that it explains.
    pub aliases: Vec<FoundAlias>,
    /// How many relations a model named that are none: an end that is no entity of the chunk, or the same at both ends.
    pub left_out: u64,
}

/// What one chunk says, or why nothing is known of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExtractedChunk {
    /// The chunk.
    pub chunk_id: String,
    /// Its document.
    pub document_id: String,
    /// Its page, from 0.
    pub page_index: u32,
    /// What it says; nothing where there is an error.
    pub facts: ChunkFacts,
    /// Why the chunk failed.
    pub error: Option<RowError>,
}

/// The table of what a unit's chunks say, in chunk order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extracted {
    /// The rows.
    pub rows: Vec<ExtractedChunk>,
}

const NAME: &str = "extracted";
const VERSION: u32 = 1;

impl Artifact for Extracted {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let mut entities = Vec::with_capacity(rows.len());
        let mut relations = Vec::with_capacity(rows.len());
        let mut aliases = Vec::with_capacity(rows.len());
        let mut errors = Vec::with_capacity(rows.len());
        for row in rows {
            entities.push(to_json(&row.facts.entities)?);
            relations.push(to_json(&row.facts.relations)?);
            aliases.push(to_json(&row.facts.aliases)?);
            errors.push(row.error.as_ref().map(to_json).transpose()?);
        }
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("chunk_id", rows.iter().map(|row| row.chunk_id.as_str()));
        table.text("document_id", rows.iter().map(|row| row.document_id.as_str()));
        table.int("page_index", rows.iter().map(|row| i64::from(row.page_index)));
        table.text("entities", entities.iter().map(String::as_str));
        table.text("relations", relations.iter().map(String::as_str));
        table.text("aliases", aliases.iter().map(String::as_str));
        table.int("left_out", rows.iter().map(|row| row.facts.left_out as i64));
        table.opt_text("error", errors.iter().map(Option::as_deref));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut document_ids = table.text("document_id")?.into_iter();
        let mut pages = table.number("page_index")?.into_iter();
        let mut entities = table.text("entities")?.into_iter();
        let mut relations = table.text("relations")?.into_iter();
        let mut aliases = table.text("aliases")?.into_iter();
        let mut left_out = table.number("left_out")?.into_iter();
        let mut errors = table.opt_text("error")?.into_iter();
        let rows = table.text("chunk_id")?.into_iter().map(|chunk_id| {
            Ok(ExtractedChunk {
                chunk_id,
                document_id: document_ids.next().unwrap_or_default(),
                page_index: pages.next().unwrap_or_default(),
                facts: ChunkFacts {
                    entities: from_json(&entities.next().unwrap_or_default())?,
                    relations: from_json(&relations.next().unwrap_or_default())?,
                    aliases: from_json(&aliases.next().unwrap_or_default())?,
                    left_out: left_out.next().unwrap_or_default(),
                },
                error: errors.next().flatten().as_deref().map(from_json).transpose()?,
            })
        });
        Ok(Extracted { rows: rows.collect::<Result<_, DecodeError>>()? })
    }
}
