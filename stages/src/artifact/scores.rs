//! `scores`: what one evaluator said of each case of a unit in one query mode.

use std::borrow::Cow;

use ragstage_cache::table::{TableReader, TableWriter, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{Json, from_json, object, object_text, to_json};
use crate::contract::{Artifact, TableArtifact};
use crate::error::{DecodeError, RowError};
use crate::model::ModelUsage;

/// The value of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreValue {
    /// A number.
    Number(f64),
    /// A truth value; counts as 1 or 0 in means.
    Bool(bool),
    /// A label; in no mean.
    Label(String),
}

impl ScoreValue {
    /// The number that enters means.
    pub fn number(&self) -> Option<f64> {
        match self {
            ScoreValue::Number(value) => Some(*value),
            ScoreValue::Bool(value) => Some(f64::from(u8::from(*value))),
            ScoreValue::Label(_) => None,
        }
    }

    /// The number, the truth value or the label as JSON has it.
    pub fn json(&self) -> Value {
        match self {
            ScoreValue::Number(value) => (*value).into(),
            ScoreValue::Bool(value) => (*value).into(),
            ScoreValue::Label(label) => label.as_str().into(),
        }
    }

    /// The value in words: a label is itself, a number the shortest digits that read back as it.
    pub fn text(&self) -> String {
        match self {
            ScoreValue::Number(value) => value.to_string(),
            ScoreValue::Bool(value) => value.to_string(),
            ScoreValue::Label(label) => label.clone(),
        }
    }
}

/// Whether a case was scored. Only `Scored` enters a mean; the other two are counted beside it (DESIGN section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreState {
    /// There is a value.
    Scored,
    /// The case has no gold of the kind that the evaluator needs.
    Skipped,
    /// The response or the evaluator failed.
    Failed,
}

impl ScoreState {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ScoreState::Scored => "scored",
            ScoreState::Skipped => "skipped",
            ScoreState::Failed => "failed",
        }
    }
}

/// The score of one case. This is the value that the row cache keeps (as JSON, without `case_id` and `error`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The case.
    #[serde(skip)]
    pub case_id: String,
    /// Whether there is a value.
    pub state: ScoreState,
    /// The value, where there is one.
    pub value: Option<ScoreValue>,
    /// Whether the case passed, for evaluators that decide.
    #[serde(default)]
    pub passed: Option<bool>,
    /// Why it was skipped.
    #[serde(default)]
    pub reason: Option<String>,
    /// What led to the value, e.g. `matched`, `expected`, `matched_reference_ids`.
    #[serde(default)]
    pub detail: Json,
    /// Why it failed.
    #[serde(skip)]
    pub error: Option<RowError>,
    /// What models took to give it, one entry per model. An observation: no table of scores holds it.
    #[serde(skip)]
    pub usage: Vec<ModelUsage>,
}

impl Score {
    /// No score is greater in size, as sums and squares of such numbers are none; that which is, is a fault of its evaluator.
    pub const MOST: f64 = 1e100;

    /// A scored case.
    pub fn scored(value: ScoreValue, passed: Option<bool>, detail: Json) -> Self {
        Score {
            case_id: String::new(),
            state: ScoreState::Scored,
            value: Some(value),
            passed,
            reason: None,
            detail,
            error: None,
            usage: Vec::new(),
        }
    }

    /// A case that cannot be scored for want of gold.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Score {
            case_id: String::new(),
            state: ScoreState::Skipped,
            value: None,
            passed: None,
            reason: Some(reason.into()),
            detail: Json::new(),
            error: None,
            usage: Vec::new(),
        }
    }

    /// A case whose response or evaluator failed.
    pub fn failed(error: RowError) -> Self {
        Score {
            case_id: String::new(),
            state: ScoreState::Failed,
            value: None,
            passed: None,
            reason: None,
            detail: Json::new(),
            error: Some(error),
            usage: Vec::new(),
        }
    }

    /// The same, where `usage` was taken to give it beside what was before.
    pub fn taking(mut self, usage: &ModelUsage) -> Self {
        ModelUsage::add_to(&mut self.usage, usage);
        self
    }
}

/// The table of scores, in case order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores {
    /// The rows.
    pub rows: Vec<Score>,
}

const NAME: &str = "scores";
const VERSION: u32 = 1;

/// A score as a table has it: what led to its value is JSON text that nobody has parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRow {
    /// The score, without its detail.
    pub score: Score,
    /// The detail, compact JSON.
    pub detail: Cow<'static, str>,
}

impl ScoreRow {
    /// The row of `score`.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn of(mut score: Score) -> Result<Self, DecodeError> {
        let detail = object_text(&std::mem::take(&mut score.detail))?;
        Ok(ScoreRow { score, detail })
    }

    /// The score with its detail.
    ///
    /// # Errors
    /// When the detail is not what was written.
    pub fn whole(self) -> Result<Score, DecodeError> {
        Ok(Score { detail: object(&self.detail)?, ..self.score })
    }
}

const ALL: [&str; 9] = ["case_id", "state", "kind", "value", "label", "passed", "reason", "error", "detail"];

impl Scores {
    /// A row group: the scores `rows` of `case_ids`, whatever case the rows are said to be of.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn columns<'a>(case_ids: impl Iterator<Item = &'a str>, rows: &[ScoreRow]) -> Result<TableWriter, DecodeError> {
        let scores = || rows.iter().map(|row| &row.score);
        let errors = scores().map(|row| row.error.as_ref().map(to_json).transpose()).collect::<Result<Vec<_>, _>>()?;
        let kinds = scores().map(|row| match &row.value {
            None => "none",
            Some(ScoreValue::Number(_)) => "number",
            Some(ScoreValue::Bool(_)) => "bool",
            Some(ScoreValue::Label(_)) => "label",
        });
        let labels = scores().map(|row| match &row.value {
            Some(ScoreValue::Label(label)) => Some(label.as_str()),
            _ => None,
        });
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", case_ids);
        table.text("state", scores().map(|row| row.state.name()));
        table.text("kind", kinds);
        table.opt_float("value", scores().map(|row| row.value.as_ref().and_then(ScoreValue::number)));
        table.opt_text("label", labels);
        table.opt_bool("passed", scores().map(|row| row.passed));
        table.opt_text("reason", scores().map(|row| row.reason.as_deref()));
        table.text("detail", rows.iter().map(|row| row.detail.as_ref()));
        table.opt_text("error", errors.iter().map(Option::as_deref));
        Ok(table)
    }

    /// The scores of row group `group` with what led to them.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize) -> Result<Vec<ScoreRow>, DecodeError> {
        rows_of(&table.read(group, &ALL)?)
    }

    /// The scores of row group `group`, without what led to them.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn outcomes(table: &TableFile, group: usize) -> Result<ScoreOutcomes, DecodeError> {
        ScoreOutcomes::of(&table.read(group, &ALL[..8])?)
    }

    /// What led to the scores of `rows` of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn details(table: &TableFile, group: usize, rows: &Rows) -> Result<Vec<Json>, DecodeError> {
        let details = table.read_rows(group, &["detail"], rows)?.texts("detail")?;
        details.iter().map(|detail| object(detail.unwrap_or("{}"))).collect()
    }
}

/// What a row group of scores says of each case, but what led to it.
pub struct ScoreOutcomes {
    case_ids: Texts,
    states: Texts,
    kinds: Texts,
    values: Vec<Option<f64>>,
    labels: Texts,
    passed: Vec<Option<bool>>,
    reasons: Texts,
    errors: Texts,
}

/// What is said of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreOutcome<'a> {
    /// The case.
    pub case_id: &'a str,
    /// Whether there is a value.
    pub state: ScoreState,
    /// The value.
    pub value: Option<ScoreValue>,
    /// Whether the case passed.
    pub passed: Option<bool>,
    /// Why it was skipped.
    pub reason: Option<&'a str>,
    /// Why it failed.
    pub error: Option<RowError>,
}

impl ScoreOutcomes {
    fn of(table: &TableReader) -> Result<Self, DecodeError> {
        Ok(ScoreOutcomes {
            case_ids: table.texts("case_id")?,
            states: table.texts("state")?,
            kinds: table.texts("kind")?,
            values: table.opt_float("value")?,
            labels: table.opt_texts("label")?,
            passed: table.opt_bool("passed")?,
            reasons: table.opt_texts("reason")?,
            errors: table.opt_texts("error")?,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.len()
    }

    /// The cases, in their order.
    pub fn case_ids(&self) -> impl Iterator<Item = &str> {
        self.case_ids.iter().map(Option::unwrap_or_default)
    }

    /// What is said in `row`.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn get(&self, row: usize) -> Result<ScoreOutcome<'_>, DecodeError> {
        let number = self.values.get(row).copied().flatten();
        let value = match (self.kinds.get(row).unwrap_or_default(), number, self.labels.get(row)) {
            ("none", _, _) => None,
            ("number", Some(value), _) => Some(ScoreValue::Number(value)),
            ("bool", Some(value), _) => Some(ScoreValue::Bool(value != 0.0)),
            ("label", _, Some(label)) => Some(ScoreValue::Label(label.to_string())),
            (kind, _, _) => return Err(DecodeError::Format(format!("row {row}: no value of kind {kind}"))),
        };
        let name = self.states.get(row).unwrap_or_default();
        let state = [ScoreState::Scored, ScoreState::Skipped, ScoreState::Failed]
            .into_iter()
            .find(|state| state.name() == name)
            .ok_or_else(|| DecodeError::Format(format!("row {row}: unknown state {name}")))?;
        Ok(ScoreOutcome {
            case_id: self.case_ids.get(row).unwrap_or_default(),
            state,
            value,
            passed: self.passed.get(row).copied().flatten(),
            reason: self.reasons.get(row),
            error: self.errors.get(row).map(from_json).transpose()?,
        })
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<ScoreRow>, DecodeError> {
    let outcomes = ScoreOutcomes::of(table)?;
    let details = table.texts("detail")?;
    let row = |row: usize| {
        let ScoreOutcome { case_id, state, value, passed, reason, error } = outcomes.get(row)?;
        let score = Score {
            case_id: case_id.to_string(),
            state,
            value,
            passed,
            reason: reason.map(str::to_string),
            detail: Json::new(),
            error,
            usage: Vec::new(),
        };
        let detail = match details.get(row) {
            Some("{}") | None => Cow::Borrowed("{}"),
            Some(detail) => Cow::Owned(detail.to_string()),
        };
        Ok(ScoreRow { score, detail })
    };
    (0..outcomes.rows()).map(row).collect()
}

impl TableArtifact for Scores {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Artifact for Scores {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = self.rows.iter().cloned().map(ScoreRow::of).collect::<Result<Vec<_>, _>>()?;
        Ok(Scores::columns(self.rows.iter().map(|row| row.case_id.as_str()), &rows)?.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let rows = rows_of(&TableReader::open(bytes, NAME, VERSION)?)?;
        Ok(Scores { rows: rows.into_iter().map(ScoreRow::whole).collect::<Result<_, _>>()? })
    }
}
