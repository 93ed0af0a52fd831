//! `observations`: what was measured while rows were computed. Exempt from the law: another run measures other numbers.

use ragstage_cache::table::{TableReader, TableWriter};
use ragstage_cache::table_file::{TableFile, TableSource};
use serde::{Deserialize, Serialize};

use super::json::{from_json, to_json};
use crate::contract::{Artifact, TableArtifact};
use crate::error::DecodeError;
use crate::model::ModelUsage;

/// What was observed of one row; also (as JSON, without `case_id`) the observation that the row cache keeps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Observation {
    /// The case.
    #[serde(skip)]
    pub case_id: String,
    /// Wall time of the successful attempt in milliseconds.
    pub latency_ms: Option<f64>,
    /// How many attempts it took.
    pub attempts: u32,
    /// What models took, one entry per model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<ModelUsage>,
}

/// The table of observations, in case order; a failed row has no latency.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observations {
    /// The rows.
    pub rows: Vec<Observation>,
}

const NAME: &str = "observations";
const VERSION: u32 = 1;

impl Artifact for Observations {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", self.rows.iter().map(|row| row.case_id.as_str()));
        table.opt_float("latency_ms", self.rows.iter().map(|row| row.latency_ms));
        table.int("attempts", self.rows.iter().map(|row| i64::from(row.attempts)));
        // Only where a model was asked: tables of others keep their bytes.
        if self.rows.iter().any(|row| !row.usage.is_empty()) {
            let usage = self.rows.iter().map(|row| to_json(&row.usage)).collect::<Result<Vec<_>, _>>()?;
            table.text("usage", usage.iter().map(String::as_str));
        }
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(Observations { rows: rows_of(&TableReader::open(bytes, NAME, VERSION)?)? })
    }
}

impl TableArtifact for Observations {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Observations {
    /// All of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize) -> Result<Vec<Observation>, DecodeError> {
        rows_of(&table.read(group, &["case_id", "latency_ms", "attempts", "usage"])?)
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<Observation>, DecodeError> {
    let latencies = table.opt_float("latency_ms")?;
    let attempts = table.number("attempts")?;
    let usage = if table.has("usage") { Some(table.text("usage")?) } else { None };
    let rows = table
        .text("case_id")?
        .into_iter()
        .enumerate()
        .map(|(i, case_id)| {
            let usage = match &usage {
                Some(texts) => from_json(&texts[i])?,
                None => Vec::new(),
            };
            Ok(Observation { case_id, latency_ms: latencies[i], attempts: attempts[i], usage })
        })
        .collect::<Result<_, DecodeError>>()?;
    Ok(rows)
}
