//! The scores of one evaluator in one query mode of one recipe, over all units.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::action::ScoreTable;
use super::case_list::CaseList;
use super::planned_query::PlannedQuery;
use crate::artifact::{Json, Score, ScoreState, ScoreValue, Scores};
use crate::contract::{Context, decoded};
use crate::error::{RowError, RowErrorKind, StageError};
use crate::step::Step;

/// What became of one case.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// Scored, skipped or failed.
    pub(super) state: ScoreState,
    /// The value of a scored case; always finite when it is a number.
    pub(super) value: Option<&'a ScoreValue>,
    /// Whether a scored case passed.
    pub(super) passed: Option<bool>,
    /// Why the case was skipped.
    pub(super) reason: Option<&'a str>,
    /// What led to the value.
    pub(super) detail: Option<&'a Json>,
    /// Why the case failed.
    pub(super) error: Option<Cow<'a, RowError>>,
}

impl<'a> Outcome<'a> {
    /// What the row `score` says. A value that is no finite number is a failure: it must neither poison a mean nor be
    /// taken for a 0.
    pub(super) fn of(score: &'a Score) -> Self {
        let failed = |error: Cow<'a, RowError>| Outcome {
            state: ScoreState::Failed,
            value: None,
            passed: None,
            reason: None,
            detail: Some(&score.detail),
            error: Some(error),
        };
        let fault = |message: &str| Cow::Owned(RowError::new(RowErrorKind::Evaluator, message));
        match (score.state, &score.value) {
            (ScoreState::Failed, _) => {
                failed(score.error.as_ref().map_or_else(|| fault("no reason was given"), Cow::Borrowed))
            }
            (ScoreState::Scored, None) => failed(fault("scored without a value")),
            (ScoreState::Scored, Some(ScoreValue::Number(value))) if !value.is_finite() => {
                failed(fault(&format!("the value {value} is no finite number")))
            }
            (state, value) => Outcome {
                state,
                value: value.as_ref().filter(|_| state == ScoreState::Scored),
                passed: score.passed.filter(|_| state == ScoreState::Scored),
                reason: score.reason.as_deref(),
                detail: Some(&score.detail),
                error: None,
            },
        }
    }

    /// A case of a unit that was never scored.
    fn absent() -> Self {
        let error = RowError::new(RowErrorKind::Upstream, "the unit has no scores");
        Outcome {
            state: ScoreState::Failed,
            value: None,
            passed: None,
            reason: None,
            detail: None,
            error: Some(Cow::Owned(error)),
        }
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
    /// One table per unit.
    tables: Vec<Option<Arc<Scores>>>,
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
        let scores: Vec<Arc<Scores>> = tables
            .par_iter()
            .map(|table| decoded::<Scores>(context, step, &table.scores))
            .collect::<Result<_, StageError>>()?;
        let mut series = Vec::new();
        let mut used = 0;
        for (planned, evaluator) in plan.iter().flat_map(|planned| planned.evaluators.iter().map(move |e| (planned, e)))
        {
            let own = tables.iter().enumerate().filter(|(_, table)| {
                table.evaluator == *evaluator && table.query == planned.query && table.recipe == planned.recipe
            });
            let own = cases.by_unit(step, own.map(|(i, table)| (table.unit_id.as_str(), i)))?;
            for (unit, i) in own.iter().enumerate().filter_map(|(unit, slot)| slot.map(|i| (unit, i))) {
                let ids = scores[i].rows.iter().map(|row| row.case_id.as_str());
                cases.check_rows(step, &tables[i].scores, unit, ids)?;
                used += 1;
            }
            series.push(Series {
                recipe: planned.recipe.clone(),
                query: planned.query.clone(),
                evaluator: evaluator.clone(),
                tables: own.into_iter().map(|slot| slot.map(|i| scores[i].clone())).collect(),
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
        match &self.tables[cases.entries[entry].unit] {
            Some(table) => Outcome::of(&table.rows[cases.within(entry)]),
            None => Outcome::absent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_values_are_scores() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let score = Score::scored(ScoreValue::Number(value), Some(true), Json::new());
            let outcome = Outcome::of(&score);
            assert_eq!((outcome.state, outcome.passed), (ScoreState::Failed, None));
            assert!(outcome.value.is_none() && outcome.error.is_some());
        }
        let zero = Score::scored(ScoreValue::Number(0.0), None, Json::new());
        assert_eq!(Outcome::of(&zero).value, Some(&ScoreValue::Number(0.0)));
    }

    #[test]
    fn a_row_that_contradicts_itself_is_a_failure() {
        let mut score = Score::scored(ScoreValue::Bool(true), None, Json::new());
        score.value = None;
        assert_eq!(Outcome::of(&score).state, ScoreState::Failed);
        let mut skipped = Score::skipped("no gold answers");
        skipped.value = Some(ScoreValue::Number(0.0));
        assert!(Outcome::of(&skipped).value.is_none());
    }
}
