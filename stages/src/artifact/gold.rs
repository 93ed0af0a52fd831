//! `gold`: what is expected of each case. Read by score and by the report, by nothing before them.

use std::borrow::Cow;

use ragstage_cache::Digest;
use ragstage_cache::table::{TableReader, TableWriter, TextLists, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{Json, from_json, list, object, object_text, to_json};
use super::row_parts::RowParts;
use crate::contract::{Artifact, TableArtifact};
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

impl Evidence {
    /// The reference id, unless it is blank.
    pub fn reference(&self) -> Option<&str> {
        self.reference_id.as_deref().filter(|reference| !reference.trim().is_empty())
    }
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

const ALL: [&str; 7] = ["case_id", "answers", "evidence", "value", "metadata", "labels", "case_metadata"];
const NAME: &str = "gold";
const VERSION: u32 = 1;

impl TableArtifact for Golds {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Artifact for Golds {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let texts = |f: &dyn Fn(&Gold) -> Result<Cow<'static, str>, DecodeError>| {
            rows.iter().map(f).collect::<Result<Vec<_>, _>>()
        };
        let evidence = texts(&|row| to_json(&row.evidence).map(Cow::Owned))?;
        let values = texts(&|row| to_json(&row.value).map(Cow::Owned))?;
        let metadata = texts(&|row| object_text(&row.metadata))?;
        let labels = texts(&|row| object_text(&row.labels))?;
        let case_metadata = texts(&|row| object_text(&row.case_metadata))?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", rows.iter().map(|row| row.case_id.as_str()));
        table.text_list("answers", rows.iter().map(|row| row.answers.iter().map(String::as_str)));
        table.text("evidence", evidence.iter().map(Cow::as_ref));
        table.text("value", values.iter().map(Cow::as_ref));
        table.text("metadata", metadata.iter().map(Cow::as_ref));
        table.text("labels", labels.iter().map(Cow::as_ref));
        table.text("case_metadata", case_metadata.iter().map(Cow::as_ref));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(Golds { rows: rows_of(&TableReader::open(bytes, NAME, VERSION)?)? })
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<Gold>, DecodeError> {
    let mut answers = table.text_list("answers")?.into_iter();
    let (evidence, values) = (table.texts("evidence")?, table.texts("value")?);
    let (metadata, labels) = (table.texts("metadata")?, table.texts("labels")?);
    let case_metadata = table.texts("case_metadata")?;
    let mut rows = Vec::with_capacity(table.rows());
    for (i, case_id) in table.text("case_id")?.into_iter().enumerate() {
        rows.push(Gold {
            case_id,
            answers: answers.next().unwrap_or_default(),
            evidence: list(evidence.get(i).unwrap_or_default())?,
            value: value(values.get(i).unwrap_or_default())?,
            metadata: object(metadata.get(i).unwrap_or_default())?,
            labels: object(labels.get(i).unwrap_or_default())?,
            case_metadata: object(case_metadata.get(i).unwrap_or_default())?,
        });
    }
    Ok(rows)
}

impl Golds {
    /// `rows` of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, rows: &Rows) -> Result<Vec<Gold>, DecodeError> {
        rows_of(&table.read_rows(group, &ALL, rows)?)
    }
}

fn value(text: &str) -> Result<Value, DecodeError> {
    if text == "null" { Ok(Value::Null) } else { from_json(text) }
}

/// What evaluators read of a row group of gold.
pub struct GoldRows {
    case_ids: Texts,
    answers: TextLists,
    /// `None` where nobody reads it.
    evidence: Option<Texts>,
    values: Texts,
    metadata: Texts,
}

impl GoldRows {
    /// Reads row group `group` of a table of [`Golds`]; its evidence where that is wanted: it is longer than all else.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, evidence: bool) -> Result<Self, DecodeError> {
        let columns = ["case_id", "answers", "value", "metadata", "evidence"];
        let table = table.read(group, if evidence { &columns } else { &columns[..4] })?;
        Ok(GoldRows {
            case_ids: table.texts("case_id")?,
            answers: table.text_lists("answers")?,
            evidence: if evidence { Some(table.texts("evidence")?) } else { None },
            values: table.texts("value")?,
            metadata: table.texts("metadata")?,
        })
    }

    /// The case of `row`.
    pub fn case_id(&self, row: usize) -> &str {
        self.case_ids.get(row).unwrap_or_default()
    }

    /// The gold of `row`, without what evaluators do not read: labels, and the case's own metadata.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn gold(&self, row: usize) -> Result<Gold, DecodeError> {
        Ok(Gold {
            case_id: self.case_id(row).to_string(),
            answers: self.answers.get(row).map(str::to_string).collect(),
            evidence: match &self.evidence {
                Some(evidence) => list(evidence.get(row).unwrap_or_default())?,
                None => Vec::new(),
            },
            value: value(self.values.get(row).unwrap_or_default())?,
            metadata: object(self.metadata.get(row).unwrap_or_default())?,
            ..Gold::default()
        })
    }

    /// Hands on all that [`GoldRows::gold`] is made of, but the case's id.
    pub fn parts(&self, row: usize, part: &mut RowParts) {
        part.list(self.answers.get(row));
        for column in self.evidence.iter().chain([&self.values, &self.metadata]) {
            part.text(column.get(row));
        }
    }
}
