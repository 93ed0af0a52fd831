//! The scores of one evaluator in one query mode of one recipe, over all units.
//!
//! Of a score only what enters numbers is in memory; what led to it is read where it is shown.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::table_file::Rows;
use rayon::prelude::*;

use super::action::ScoreTable;
use super::case_list::{CaseList, CasesOfUnit};
use super::planned_query::PlannedQuery;
use crate::artifact::{Json, ScoreOutcome, ScoreState, ScoreValue, Scores};
use crate::contract::{Context, derived_on_all_cores, opened};
use crate::error::{DecodeError, RowError, RowErrorKind, StageError};
use crate::step::Step;

/// What became of one case.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// Scored, skipped or failed.
    pub(super) state: ScoreState,
    /// The value of a scored case; always finite when it is a number.
    pub(super) value: Option<ScoreValue>,
    /// Whether a scored case passed.
    pub(super) passed: Option<bool>,
    /// Why the case was skipped.
    pub(super) reason: Option<&'a str>,
    /// Why the case failed.
    pub(super) error: Option<&'a RowError>,
}

/// The outcomes of one score table.
#[derive(Default)]
struct Outcomes {
    /// The cases that the table was checked against.
    of: Option<CasesOfUnit>,
    rows: Vec<Row>,
    /// Each label and each reason once.
    texts: Vec<String>,
    places: HashMap<String, u32>,
    errors: BTreeMap<usize, RowError>,
}

/// A row in a few bytes, for there may be millions.
#[derive(Clone, Copy)]
struct Row {
    number: f64,
    /// Position of the label or the reason in `texts`.
    text: u32,
    state: ScoreState,
    kind: Kind,
    passed: Option<bool>,
}

/// What a row has beside its state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Number,
    Truth,
    Label,
    Reason,
}

impl Outcomes {
    /// Adds what the row `score` says. A value that is no finite number is a failure: it must neither poison a mean nor be
    /// taken for a 0.
    fn push(&mut self, score: ScoreOutcome<'_>) {
        let fault = |message: &str| Some(RowError::new(RowErrorKind::Evaluator, message));
        let error = match (score.state, &score.value) {
            (ScoreState::Failed, _) => score.error.or_else(|| fault("no reason was given")),
            (ScoreState::Scored, None) => fault("scored without a value"),
            (ScoreState::Scored, Some(ScoreValue::Number(value))) if !value.is_finite() => {
                fault(&format!("the value {value} is no finite number"))
            }
            _ => None,
        };
        let state = if error.is_some() { ScoreState::Failed } else { score.state };
        let scored = state == ScoreState::Scored;
        let reason = score.reason.filter(|_| error.is_none());
        if let Some(error) = error {
            self.errors.insert(self.rows.len(), error);
        }
        let (number, text, kind) = match (score.value.filter(|_| scored), reason) {
            (Some(ScoreValue::Number(number)), _) => (number, 0, Kind::Number),
            (Some(ScoreValue::Bool(truth)), _) => (f64::from(u8::from(truth)), 0, Kind::Truth),
            (Some(ScoreValue::Label(label)), _) => (0.0, self.text(&label), Kind::Label),
            (None, Some(reason)) => (0.0, self.text(reason), Kind::Reason),
            (None, None) => (0.0, 0, Kind::Nothing),
        };
        self.rows.push(Row { number, text, state, kind, passed: score.passed.filter(|_| scored) });
    }

    /// The position of `text`; texts beyond four billion are told as the first.
    fn text(&mut self, text: &str) -> u32 {
        if let Some(known) = self.places.get(text) {
            return *known;
        }
        let place = u32::try_from(self.texts.len()).unwrap_or_default();
        self.texts.push(text.to_string());
        self.places.insert(text.to_string(), place);
        place
    }

    /// Adds the rows of `part` after the others.
    fn append(&mut self, part: Outcomes) {
        let start = self.rows.len();
        let texts: Vec<u32> = part.texts.iter().map(|text| self.text(text)).collect();
        let text = |row: &Row| texts.get(row.text as usize).copied().unwrap_or_default();
        self.rows.extend(part.rows.into_iter().map(|row| Row { text: text(&row), ..row }));
        self.errors.extend(part.errors.into_iter().map(|(row, error)| (start + row, error)));
    }

    fn get(&self, row: usize) -> Option<Outcome<'_>> {
        let Row { number, text, state, kind, passed } = *self.rows.get(row)?;
        let text = || self.texts.get(text as usize).map(String::as_str).unwrap_or_default();
        let value = match kind {
            Kind::Number => Some(ScoreValue::Number(number)),
            Kind::Truth => Some(ScoreValue::Bool(number != 0.0)),
            Kind::Label => Some(ScoreValue::Label(text().to_string())),
            Kind::Nothing | Kind::Reason => None,
        };
        let reason = (kind == Kind::Reason).then(text);
        Some(Outcome { state, value, passed, reason, error: self.errors.get(&row) })
    }

    /// The outcomes in the artifact `digest`, a table of unit `unit`: read once by all who sum them up and report them.
    fn of(
        context: &dyn Context,
        step: Step,
        digest: &Digest,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Arc<Self>, StageError> {
        let read = || Outcomes::read(context, step, digest, cases, unit);
        let size = |outcomes: &Outcomes| outcomes.rows.len() * size_of::<Row>();
        let outcomes = derived_on_all_cores(context, digest, size, read)?;
        // The same scores may be those of other cases.
        if outcomes.of == Some(cases.identity(unit)) { Ok(outcomes) } else { read().map(Arc::new) }
    }

    fn read(
        context: &dyn Context,
        step: Step,
        digest: &Digest,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Self, StageError> {
        let fault = |error: DecodeError| StageError::artifact(step, digest, error);
        let table = opened::<Scores>(context, step, digest)?;
        cases.check_table(step, digest, unit, &table)?;
        let read = |group: usize, rows: std::ops::Range<usize>| {
            let scores = Scores::outcomes(&table, group).map_err(fault)?;
            cases.check_rows(step, digest, unit, rows.start, scores.case_ids())?;
            let mut part = Outcomes::default();
            part.rows.reserve_exact(scores.rows());
            (0..scores.rows()).try_for_each(|row| scores.get(row).map(|score| part.push(score))).map_err(fault)?;
            Ok(part)
        };
        let mut all = Outcomes { of: Some(cases.identity(unit)), ..Outcomes::default() };
        all.rows.reserve_exact(table.rows());
        cases.read_groups(unit, read, |part| all.append(part))?;
        Ok(all)
    }
}

/// The score tables of one evaluator in one query mode of one recipe.
pub(super) struct Series {
    /// The recipe.
    pub(super) recipe: String,
    /// The query.
    pub(super) query: String,
    /// The evaluator.
    pub(super) evaluator: String,
    /// One table per unit, and where it is.
    tables: Vec<Option<(Digest, Arc<Outcomes>)>>,
    /// What became of the cases of a unit that was never scored.
    absent: RowError,
}

impl Series {
    /// The series of `plan`, in its order.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        plan: &[PlannedQuery],
        tables: &[ScoreTable],
        cases: &CaseList,
    ) -> Result<Vec<Series>, StageError> {
        let mut series = Vec::new();
        let mut used = 0;
        for (planned, evaluator) in plan.iter().flat_map(|planned| planned.evaluators.iter().map(move |e| (planned, e)))
        {
            let own = cases.scores(step, planned, evaluator, tables)?;
            used += own.iter().flatten().count();
            let read = |(unit, table): (usize, Option<&ScoreTable>)| -> Result<_, StageError> {
                let Some(ScoreTable { scores, .. }) = table else { return Ok(None) };
                Ok(Some((*scores, Outcomes::of(context, step, scores, cases, unit)?)))
            };
            series.push(Series {
                recipe: planned.recipe.clone(),
                query: planned.query.clone(),
                evaluator: evaluator.clone(),
                tables: own.into_par_iter().enumerate().map(read).collect::<Result<_, StageError>>()?,
                absent: RowError::new(RowErrorKind::Upstream, "the unit has no scores"),
            });
        }
        if used == tables.len() {
            Ok(series)
        } else {
            Err(StageError::encode(step, format!("{} score tables, of which {used} are planned", tables.len())))
        }
    }

    /// What became of `entry`.
    pub(super) fn outcome(&self, cases: &CaseList, entry: usize) -> Outcome<'_> {
        let absent =
            Outcome { state: ScoreState::Failed, value: None, passed: None, reason: None, error: Some(&self.absent) };
        let table = self.tables.get(cases.entries[entry].unit).and_then(Option::as_ref);
        table.and_then(|(_, outcomes)| outcomes.get(cases.within(entry))).unwrap_or(absent)
    }

    /// What led to the scores of `rows` of row group `group` of unit `unit`; nothing where the unit was never scored.
    pub(super) fn details(
        &self,
        context: &dyn Context,
        step: Step,
        unit: usize,
        group: usize,
        rows: &Rows,
    ) -> Result<Vec<Json>, StageError> {
        let Some((digest, _)) = self.tables.get(unit).and_then(Option::as_ref) else { return Ok(Vec::new()) };
        let table = opened::<Scores>(context, step, digest)?;
        Scores::details(&table, group, rows).map_err(|error| StageError::artifact(step, digest, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(state: ScoreState, value: Option<ScoreValue>) -> ScoreOutcome<'static> {
        ScoreOutcome { case_id: "q", state, value, passed: None, reason: None, error: None }
    }

    fn outcomes<'a>(scores: impl IntoIterator<Item = ScoreOutcome<'a>>) -> Outcomes {
        let mut outcomes = Outcomes::default();
        scores.into_iter().for_each(|score| outcomes.push(score));
        outcomes
    }

    #[test]
    fn only_finite_values_are_scores() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let score = score(ScoreState::Scored, Some(ScoreValue::Number(value)));
            let all = outcomes([ScoreOutcome { passed: Some(true), ..score }]);
            let outcome = all.get(0).expect("a row");
            assert_eq!((outcome.state, outcome.passed), (ScoreState::Failed, None));
            assert!(outcome.value.is_none() && outcome.error.is_some());
        }
        let all = outcomes([score(ScoreState::Scored, Some(ScoreValue::Number(0.0)))]);
        assert_eq!(all.get(0).expect("a row").value, Some(ScoreValue::Number(0.0)));
    }

    #[test]
    fn a_row_that_contradicts_itself_is_a_failure() {
        let skipped = |value, reason| ScoreOutcome { reason: Some(reason), ..score(ScoreState::Skipped, value) };
        let all = outcomes([
            score(ScoreState::Scored, None),
            skipped(Some(ScoreValue::Number(0.0)), "no gold answers"),
            skipped(None, "no gold answers"),
            skipped(None, "no answers"),
        ]);
        assert_eq!(all.get(0).expect("a row").state, ScoreState::Failed);
        assert!(all.get(1).expect("a row").value.is_none());
        let reasons: Vec<_> = (1..4).filter_map(|row| all.get(row)?.reason).collect();
        assert_eq!(reasons, ["no gold answers", "no gold answers", "no answers"]);
        assert_eq!(all.texts.len(), 2);
    }
}
