//! `gold`: what is expected of each case. Read by score and by the report, by nothing before them.

use ragstage_cache::Digest;
use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::DecodeError;

/// One piece of gold evidence; at least one of the first three says where it is (spec/heta 1, BenchmarkEvidence).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// A document id, source key or chunk id.
    #[serde(default)]
    pub reference_id: Option<String>,
    /// Key-value pairs that must hold of a result's source.
    #[serde(default)]
    pub locator: Json,
    /// A passage.
    #[serde(default)]
    pub text: Option<String>,
    /// The dataset's own fields; `relevance` (a number) is the graded judgement.
    #[serde(default)]
    pub metadata: Json,
}

/// What is expected of one case (spec/heta 1, BenchmarkExpected), with the case's labels and metadata.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gold {
    /// The case.
    pub case_id: String,
    /// Accepted answers; none means that answers are not judged.
    pub answers: Vec<String>,
    /// Gold evidence; none means that retrieval is not judged.
    pub evidence: Vec<Evidence>,
    /// A typed gold value (number, list, ...) or null.
    pub value: Value,
    /// The dataset's fields of the expectation.
    pub metadata: Json,
    /// The case's labels.
    pub labels: Json,
    /// The dataset's fields of the case.
    pub case_metadata: Json,
}

impl Gold {
    /// Digest of what evaluators read: answers, evidence, value and the expectation's metadata.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn digest(&self) -> Result<Digest, DecodeError> {
        let text = to_json(&(&self.answers, &self.evidence, &self.value, &self.metadata))?;
        Ok(Digest::of_parts("ragstage.gold", [text.as_bytes()]))
    }
}

/// The table of gold, in case order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Golds {
    /// The rows.
    pub rows: Vec<Gold>,
}

const NAME: &str = "gold";
const VERSION: u32 = 1;

impl Artifact for Golds {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let texts =
            |f: &dyn Fn(&Gold) -> Result<String, DecodeError>| rows.iter().map(f).collect::<Result<Vec<_>, _>>();
        let evidence = texts(&|row| to_json(&row.evidence))?;
        let values = texts(&|row| to_json(&row.value))?;
        let metadata = texts(&|row| to_json(&row.metadata))?;
        let labels = texts(&|row| to_json(&row.labels))?;
        let case_metadata = texts(&|row| to_json(&row.case_metadata))?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", rows.iter().map(|row| row.case_id.as_str()));
        table.text_list("answers", rows.iter().map(|row| row.answers.iter().map(String::as_str)));
        table.text("evidence", evidence.iter().map(String::as_str));
        table.text("value", values.iter().map(String::as_str));
        table.text("metadata", metadata.iter().map(String::as_str));
        table.text("labels", labels.iter().map(String::as_str));
        table.text("case_metadata", case_metadata.iter().map(String::as_str));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let mut answers = table.text_list("answers")?.into_iter();
        let evidence = table.text("evidence")?;
        let values = table.text("value")?;
        let metadata = table.text("metadata")?;
        let labels = table.text("labels")?;
        let case_metadata = table.text("case_metadata")?;
        let mut rows = Vec::with_capacity(table.rows());
        for (i, case_id) in table.text("case_id")?.into_iter().enumerate() {
            rows.push(Gold {
                case_id,
                answers: answers.next().unwrap_or_default(),
                evidence: from_json(&evidence[i])?,
                value: from_json(&values[i])?,
                metadata: from_json(&metadata[i])?,
                labels: from_json(&labels[i])?,
                case_metadata: from_json(&case_metadata[i])?,
            });
        }
        Ok(Golds { rows })
    }
}
