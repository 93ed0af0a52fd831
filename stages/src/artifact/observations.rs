//! `observations`: what was measured while rows were computed. Exempt from the law: another run measures other numbers.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use crate::contract::Artifact;
use crate::error::DecodeError;

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
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let latencies = table.opt_float("latency_ms")?;
        let attempts = table.number("attempts")?;
        let rows = table
            .text("case_id")?
            .into_iter()
            .enumerate()
            .map(|(i, case_id)| Observation { case_id, latency_ms: latencies[i], attempts: attempts[i] })
            .collect();
        Ok(Observations { rows })
    }
}
