//! `scores`: what one evaluator said of each case of a unit in one query mode.

use ragstage_cache::table::{TableReader, TableWriter};
use serde::{Deserialize, Serialize};

use super::json::{Json, from_json, to_json};
use crate::contract::Artifact;
use crate::error::{DecodeError, RowError};

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
}

impl Score {
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
        }
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

impl Artifact for Scores {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let details = rows.iter().map(|row| to_json(&row.detail)).collect::<Result<Vec<_>, _>>()?;
        let errors =
            rows.iter().map(|row| row.error.as_ref().map(to_json).transpose()).collect::<Result<Vec<_>, _>>()?;
        let label = |row: &Score| match &row.value {
            Some(ScoreValue::Label(label)) => Some(label.clone()),
            _ => None,
        };
        let kinds = rows.iter().map(|row| match &row.value {
            None => "none",
            Some(ScoreValue::Number(_)) => "number",
            Some(ScoreValue::Bool(_)) => "bool",
            Some(ScoreValue::Label(_)) => "label",
        });
        let labels: Vec<Option<String>> = rows.iter().map(label).collect();
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", rows.iter().map(|row| row.case_id.as_str()));
        table.text("state", rows.iter().map(|row| row.state.name()));
        table.text("kind", kinds);
        table.opt_float("value", rows.iter().map(|row| row.value.as_ref().and_then(ScoreValue::number)));
        table.opt_text("label", labels.iter().map(Option::as_deref));
        table.opt_bool("passed", rows.iter().map(|row| row.passed));
        table.opt_text("reason", rows.iter().map(|row| row.reason.as_deref()));
        table.text("detail", details.iter().map(String::as_str));
        table.opt_text("error", errors.iter().map(Option::as_deref));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let table = TableReader::open(bytes, NAME, VERSION)?;
        let states = table.text("state")?;
        let kinds = table.text("kind")?;
        let values = table.opt_float("value")?;
        let mut labels = table.opt_text("label")?.into_iter();
        let passed = table.opt_bool("passed")?;
        let mut reasons = table.opt_text("reason")?.into_iter();
        let details = table.text("detail")?;
        let errors = table.opt_text("error")?;
        let mut rows = Vec::with_capacity(table.rows());
        for (i, case_id) in table.text("case_id")?.into_iter().enumerate() {
            let label = labels.next().flatten();
            let value = match (kinds[i].as_str(), values[i], label) {
                ("none", _, _) => None,
                ("number", Some(value), _) => Some(ScoreValue::Number(value)),
                ("bool", Some(value), _) => Some(ScoreValue::Bool(value != 0.0)),
                ("label", _, Some(label)) => Some(ScoreValue::Label(label)),
                (kind, _, _) => return Err(DecodeError::Format(format!("row {i}: no value of kind {kind}"))),
            };
            let state = [ScoreState::Scored, ScoreState::Skipped, ScoreState::Failed]
                .into_iter()
                .find(|state| state.name() == states[i])
                .ok_or_else(|| DecodeError::Format(format!("row {i}: unknown state {}", states[i])))?;
            rows.push(Score {
                case_id,
                state,
                value,
                passed: passed[i],
                reason: reasons.next().flatten(),
                detail: from_json(&details[i])?,
                error: errors[i].as_deref().map(from_json).transpose()?,
            });
        }
        Ok(Scores { rows })
    }
}
