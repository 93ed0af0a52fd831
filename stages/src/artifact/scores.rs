//! `scores`: what one evaluator said of each case of a unit in one query mode.

use std::borrow::Cow;

use ragstage_cache::table::{TableReader, TableWriter, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detail::Detail;
use super::json::{Json, from_json, object, to_json};
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
    /// What led to the value.
    #[serde(default)]
    pub detail: Detail,
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
    pub fn scored(value: ScoreValue, passed: Option<bool>, detail: impl Into<Detail>) -> Self {
        Score {
            case_id: String::new(),
            state: ScoreState::Scored,
            value: Some(value),
            passed,
            reason: None,
            detail: detail.into(),
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
            detail: Detail::new(),
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
            detail: Detail::new(),
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
/// About how long details are.
const DETAIL_BYTES: usize = 64;
/// The detail of a score that has none.
const NO_DETAIL: &str = "{}";

/// A score as a table has it: what led to its value is JSON text that nobody has parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRow {
    /// The score, without its detail.
    pub score: Score,
    /// The detail, compact JSON.
    pub detail: Cow<'static, str>,
}

impl ScoreRow {
    /// The score with its detail.
    ///
    /// # Errors
    /// When the detail is not what was written.
    pub fn whole(self) -> Result<Score, DecodeError> {
        Ok(Score { detail: object(&self.detail)?.into(), ..self.score })
    }
}

/// Scores of a row group, column by column: most of what a score may have, most scores do not.
#[derive(Debug, Default)]
pub struct ScoreRows {
    cells: Vec<Cell>,
    labels: SparseTexts,
    reasons: SparseTexts,
    /// JSON.
    errors: SparseTexts,
    /// What led to the scores, one text after the other, and where each of them ends.
    details: Vec<u8>,
    detail_ends: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    state: ScoreState,
    kind: &'static str,
    number: Option<f64>,
    passed: Option<bool>,
}

/// The texts of those rows that have one, in their order.
#[derive(Debug, Default)]
struct SparseTexts(Vec<(usize, String)>);

impl SparseTexts {
    fn push(&mut self, row: usize, text: Option<String>) {
        self.0.extend(text.map(|text| (row, text)));
    }

    /// The text of each of so many `rows`.
    fn column(&self, rows: usize) -> impl Iterator<Item = Option<&str>> {
        let mut texts = self.0.iter().peekable();
        (0..rows).map(move |row| texts.next_if(|(of, _)| *of == row).map(|(_, text)| text.as_str()))
    }
}

impl ScoreRows {
    /// No scores, with room for so many.
    pub fn with_capacity(rows: usize) -> Self {
        let (cells, detail_ends) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        ScoreRows { cells, detail_ends, details: Vec::with_capacity(rows * DETAIL_BYTES), ..ScoreRows::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many of them failed.
    pub fn failed(&self) -> usize {
        self.errors.0.len()
    }

    /// Adds `score`, of whatever case.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn push(&mut self, score: Score) -> Result<(), DecodeError> {
        let error = score.error.as_ref().map(to_json).transpose()?;
        score.detail.write(&mut self.details)?;
        self.put(score.state, score.value.as_ref(), score.passed, (score.reason, error));
        Ok(())
    }

    /// Adds a score that a table had.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn push_row(&mut self, row: &ScoreRow) -> Result<(), DecodeError> {
        let ScoreRow { score, detail } = row;
        let error = score.error.as_ref().map(to_json).transpose()?;
        self.details.extend_from_slice(detail.as_bytes());
        self.put(score.state, score.value.as_ref(), score.passed, (score.reason.clone(), error));
        Ok(())
    }

    /// Adds all but the detail, which is there already.
    fn put(
        &mut self,
        state: ScoreState,
        value: Option<&ScoreValue>,
        passed: Option<bool>,
        (reason, error): (Option<String>, Option<String>),
    ) {
        let row = self.cells.len();
        let (kind, label) = match value {
            None => ("none", None),
            Some(ScoreValue::Number(_)) => ("number", None),
            Some(ScoreValue::Bool(_)) => ("bool", None),
            Some(ScoreValue::Label(label)) => ("label", Some(label.clone())),
        };
        self.cells.push(Cell { state, kind, number: value.and_then(ScoreValue::number), passed });
        self.labels.push(row, label);
        self.reasons.push(row, reason);
        self.errors.push(row, error);
        self.detail_ends.push(self.details.len());
    }

    /// Adds the rows of `others` after these.
    pub fn append(&mut self, others: ScoreRows) {
        let (rows, start) = (self.cells.len(), self.details.len());
        self.cells.extend(others.cells);
        for (these, others) in
            [(&mut self.labels, others.labels), (&mut self.reasons, others.reasons), (&mut self.errors, others.errors)]
        {
            these.0.extend(others.0.into_iter().map(|(row, text)| (rows + row, text)));
        }
        self.details.extend_from_slice(&others.details);
        self.detail_ends.extend(others.detail_ends.into_iter().map(|end| start + end));
    }

    fn details(&self) -> Result<impl Iterator<Item = &str>, DecodeError> {
        let details = std::str::from_utf8(&self.details).map_err(|error| DecodeError::Format(error.to_string()))?;
        let starts = std::iter::once(0).chain(self.detail_ends.iter().copied());
        let ends = self.detail_ends.iter();
        Ok(starts.zip(ends).map(move |(start, end)| details.get(start..*end).unwrap_or_default()))
    }
}

const ALL: [&str; 9] = ["case_id", "state", "kind", "value", "label", "passed", "reason", "error", "detail"];

impl Scores {
    /// A row group: the scores `rows` of `case_ids`.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn columns<'a>(case_ids: impl Iterator<Item = &'a str>, rows: &ScoreRows) -> Result<TableWriter, DecodeError> {
        let cells = || rows.cells.iter();
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", case_ids);
        table.text("state", cells().map(|cell| cell.state.name()));
        table.text("kind", cells().map(|cell| cell.kind));
        table.opt_float("value", cells().map(|cell| cell.number));
        table.opt_text("label", rows.labels.column(rows.cells.len()));
        table.opt_bool("passed", cells().map(|cell| cell.passed));
        table.opt_text("reason", rows.reasons.column(rows.cells.len()));
        table.text("detail", rows.details()?);
        table.opt_text("error", rows.errors.column(rows.cells.len()));
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
        details.iter().map(|detail| object(detail.unwrap_or(NO_DETAIL))).collect()
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
            detail: Detail::new(),
            error,
            usage: Vec::new(),
        };
        let detail = match details.get(row) {
            Some(NO_DETAIL) | None => Cow::Borrowed(NO_DETAIL),
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
        let mut rows = ScoreRows::with_capacity(self.rows.len());
        self.rows.iter().try_for_each(|row| rows.push(row.clone()))?;
        Ok(Scores::columns(self.rows.iter().map(|row| row.case_id.as_str()), &rows)?.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let rows = rows_of(&TableReader::open(bytes, NAME, VERSION)?)?;
        Ok(Scores { rows: rows.into_iter().map(ScoreRow::whole).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::RowErrorKind;

    fn score(case_id: &str, score: Score) -> Score {
        Score { case_id: case_id.to_string(), ..score }
    }

    #[test]
    fn what_is_written_is_read_whole_and_in_parts() {
        let detail = json!({"best_answer": "é \"x\"\n", "precision": 0.1}).as_object().cloned().expect("an object");
        let all = Scores {
            rows: vec![
                score("a", Score::scored(ScoreValue::Number(-0.1), None, detail)),
                score("b", Score::skipped("no gold answers")),
                score("c", Score::failed(RowError::new(RowErrorKind::Evaluator, "it broke"))),
                score("d", Score::scored(ScoreValue::Label("red".to_string()), Some(false), Json::new())),
                score("e", Score::scored(ScoreValue::Bool(true), Some(true), Json::new())),
                score("f", Score::skipped("no answer")),
            ],
        };
        let bytes = all.encode().expect("bytes");
        assert_eq!(Scores::decode(bytes.clone()).expect("scores"), all);
        let table = Scores::open(bytes.clone().into()).expect("a table");
        let rows = Scores::read(&table, 0).expect("rows");
        assert_eq!(rows.iter().cloned().map(|row| row.whole().expect("a score")).collect::<Vec<_>>(), all.rows);
        let outcomes = Scores::outcomes(&table, 0).expect("outcomes");
        for (row, score) in all.rows.iter().enumerate() {
            let outcome = outcomes.get(row).expect("an outcome");
            assert_eq!((outcome.case_id, outcome.state, &outcome.value), (&*score.case_id, score.state, &score.value));
            assert_eq!((outcome.passed, outcome.reason), (score.passed, score.reason.as_deref()));
            assert_eq!(outcome.error, score.error);
        }
        // Scores of parts, and those that a table had, make the same table.
        for split in 0..=rows.len() {
            let (mut first, mut second) = (ScoreRows::default(), ScoreRows::default());
            all.rows[..split].iter().for_each(|score| first.push(score.clone()).expect("a row"));
            rows[split..].iter().for_each(|row| second.push_row(row).expect("a row"));
            first.append(second);
            assert_eq!((first.len(), first.failed()), (6, 1));
            let case_ids = all.rows.iter().map(|score| score.case_id.as_str());
            assert!(Scores::columns(case_ids, &first).expect("columns").finish().expect("bytes") == bytes, "{split}");
        }
    }
}
