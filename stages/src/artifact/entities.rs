//! `entities`: what a unit's chunks speak of.

use ragstage_cache::table::{TableReader, TableWriter};

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::DecodeError;

/// Something that chunks speak of, under one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entity {
    /// `entity_` + 16 hexadecimal digits of blake3 over the canonical name and the canonical type.
    pub entity_id: String,
    /// The form of the name that most chunks use.
    pub name: String,
    /// What kind of thing it is.
    pub kind: String,
    /// A finer kind.
    pub subtype: Option<String>,
    /// What chunks say of it; may be empty.
    pub description: String,
    /// Anything else; `aliases` is a list of the other forms of its name.
    pub attributes: Json,
    /// How many chunks mention it.
    pub mentions: u64,
}

/// The table of a unit's entities, by canonical name, then canonical type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entities {
    /// The rows.
    pub rows: Vec<Entity>,
}

const NAME: &str = "entities";
const VERSION: u32 = 1;

impl Artifact for Entities {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let attributes = rows.iter().map(|row| to_json(&row.attributes)).collect::<Result<Vec<_>, _>>()?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("entity_id", rows.iter().map(|row| row.entity_id.as_str()));
        table.text("name", rows.iter().map(|row| row.name.as_str()));
        table.text("type", rows.iter().map(|row| row.kind.as_str()));
        table.opt_text("subtype", rows.iter().map(|row| row.subtype.as_deref()));
        table.text("description", rows.iter().map(|row| row.description.as_str()));
        table.text("attributes", attributes.iter().map(String::as_str));
        table.int("mentions", rows.iter().map(|row| row.mentions as i64));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut names = table.text("name")?.into_iter();
        let mut kinds = table.text("type")?.into_iter();
        let mut subtypes = table.opt_text("subtype")?.into_iter();
        let mut descriptions = table.text("description")?.into_iter();
        let mut attributes = table.text("attributes")?.into_iter();
        let mut mentions = table.number("mentions")?.into_iter();
        let rows = table.text("entity_id")?.into_iter().map(|entity_id| {
            Ok(Entity {
                entity_id,
                name: names.next().unwrap_or_default(),
                kind: kinds.next().unwrap_or_default(),
                subtype: subtypes.next().flatten(),
                description: descriptions.next().unwrap_or_default(),
                attributes: from_json(&attributes.next().unwrap_or_default())?,
                mentions: mentions.next().unwrap_or_default(),
            })
        });
        Ok(Entities { rows: rows.collect::<Result<_, DecodeError>>()? })
    }
}
