//! `mentions`: which chunk speaks of which entity or relation.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use crate::contract::Artifact;
use crate::error::DecodeError;

/// What is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// An entity.
    Entity,
    /// A relation.
    Relation,
}

impl FactKind {
    /// The name in tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            FactKind::Entity => "entity",
            FactKind::Relation => "relation",
        }
    }
}

/// A chunk speaks of an entity or a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Whether `id` is that of an entity or of a relation.
    pub kind: FactKind,
    /// What is mentioned.
    pub id: String,
    /// Where.
    pub chunk_id: String,
    /// The chunk's document.
    pub document_id: String,
    /// The chunk's page, from 0.
    pub page_index: u32,
}

/// The table of a unit's mentions: entities in the order of their table, then relations in that of theirs; by chunk id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mentions {
    /// The rows.
    pub rows: Vec<Mention>,
}

const NAME: &str = "mentions";
const VERSION: u32 = 1;

impl Artifact for Mentions {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("kind", rows.iter().map(|row| row.kind.name()));
        table.text("id", rows.iter().map(|row| row.id.as_str()));
        table.text("chunk_id", rows.iter().map(|row| row.chunk_id.as_str()));
        table.text("document_id", rows.iter().map(|row| row.document_id.as_str()));
        table.int("page_index", rows.iter().map(|row| i64::from(row.page_index)));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut ids = table.text("id")?.into_iter();
        let mut chunk_ids = table.text("chunk_id")?.into_iter();
        let mut document_ids = table.text("document_id")?.into_iter();
        let mut pages = table.number("page_index")?.into_iter();
        let rows = table.text("kind")?.into_iter().map(|kind| {
            let kind = [FactKind::Entity, FactKind::Relation].into_iter().find(|known| known.name() == kind);
            Ok(Mention {
                kind: kind.ok_or_else(|| DecodeError::Format("expected entity or relation as kind".to_string()))?,
                id: ids.next().unwrap_or_default(),
                chunk_id: chunk_ids.next().unwrap_or_default(),
                document_id: document_ids.next().unwrap_or_default(),
                page_index: pages.next().unwrap_or_default(),
            })
        });
        Ok(Mentions { rows: rows.collect::<Result<_, DecodeError>>()? })
    }
}
