//! `relations`: what a unit's chunks say of two entities.

use ragstage_cache::table::{TableReader, TableWriter};

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::DecodeError;

/// Something that chunks say of two entities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relation {
    /// `relation_` + 16 hexadecimal digits of blake3 over both ends' ids and the canonical type and name.
    pub relation_id: String,
    /// The entity that it goes out from.
    pub source_id: String,
    /// The entity that it goes to; never the same.
    pub target_id: String,
    /// The name of the entity that it goes out from.
    pub source: String,
    /// The name of the entity that it goes to.
    pub target: String,
    /// What kind of relation it is.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// What chunks say of it; may be empty.
    pub description: String,
    /// Anything else.
    pub attributes: Json,
    /// How often it was found; sentences for the lexical extractor, chunks for a model.
    pub weight: u64,
}

/// The table of a unit's relations, in the order of their ends in the table of entities, then by type and name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relations {
    /// The rows.
    pub rows: Vec<Relation>,
}

const NAME: &str = "relations";
const VERSION: u32 = 1;

impl Artifact for Relations {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let attributes = rows.iter().map(|row| to_json(&row.attributes)).collect::<Result<Vec<_>, _>>()?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("relation_id", rows.iter().map(|row| row.relation_id.as_str()));
        table.text("source_id", rows.iter().map(|row| row.source_id.as_str()));
        table.text("target_id", rows.iter().map(|row| row.target_id.as_str()));
        table.text("source", rows.iter().map(|row| row.source.as_str()));
        table.text("target", rows.iter().map(|row| row.target.as_str()));
        table.text("type", rows.iter().map(|row| row.kind.as_str()));
        table.text("name", rows.iter().map(|row| row.name.as_str()));
        table.text("description", rows.iter().map(|row| row.description.as_str()));
        table.text("attributes", attributes.iter().map(String::as_str));
        table.int("weight", rows.iter().map(|row| row.weight as i64));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut source_ids = table.text("source_id")?.into_iter();
        let mut target_ids = table.text("target_id")?.into_iter();
        let mut sources = table.text("source")?.into_iter();
        let mut targets = table.text("target")?.into_iter();
        let mut kinds = table.text("type")?.into_iter();
        let mut names = table.text("name")?.into_iter();
        let mut descriptions = table.text("description")?.into_iter();
        let mut attributes = table.text("attributes")?.into_iter();
        let mut weights = table.number("weight")?.into_iter();
        let rows = table.text("relation_id")?.into_iter().map(|relation_id| {
            Ok(Relation {
                relation_id,
                source_id: source_ids.next().unwrap_or_default(),
                target_id: target_ids.next().unwrap_or_default(),
                source: sources.next().unwrap_or_default(),
                target: targets.next().unwrap_or_default(),
                kind: kinds.next().unwrap_or_default(),
                name: names.next().unwrap_or_default(),
                description: descriptions.next().unwrap_or_default(),
                attributes: from_json(&attributes.next().unwrap_or_default())?,
                weight: weights.next().unwrap_or_default(),
            })
        });
        Ok(Relations { rows: rows.collect::<Result<_, DecodeError>>()? })
    }
}
