//! Which cases of a query have no response, and why.

use std::collections::BTreeMap;

use ragstage_cache::Digest;
use rayon::prelude::*;

use super::action::ResponseTable;
use super::case_list::{CaseList, CasesOfUnit};
use super::planned_query::PlannedQuery;
use super::unit_responses::ResponseFailure;
use crate::artifact::{Answers, Results};
use crate::contract::{Context, derived_on_all_cores, opened};
use crate::error::{DecodeError, RowError, StageError};
use crate::step::Step;

/// The failures of one query of one recipe.
pub(super) struct ResponseErrors {
    /// The recipe.
    pub(super) recipe: String,
    /// The query.
    pub(super) query: String,
    /// Cases whose answer is the refusal that the model was told to give.
    pub(super) refused: u64,
    failures: BTreeMap<usize, ResponseFailure>,
}

impl ResponseErrors {
    /// Reads the failures of every query of `plan`, in its order.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        plan: &[PlannedQuery],
        tables: &[ResponseTable],
        cases: &CaseList,
    ) -> Result<Vec<Self>, StageError> {
        let mut all = Vec::with_capacity(plan.len());
        for planned in plan {
            let of_unit = |(unit, table): (usize, Option<&ResponseTable>)| -> Result<(Vec<_>, u64), StageError> {
                match table {
                    Some(table) => of_table(context, step, table, cases, unit),
                    None => Ok((cases.range(unit).map(|entry| (entry, ResponseFailure::absent())).collect(), 0)),
                }
            };
            let units = cases.responses(step, planned, tables)?.into_par_iter().enumerate().map(of_unit);
            let units = units.collect::<Result<Vec<_>, StageError>>()?;
            let refused = units.iter().map(|(_, refused)| refused).sum();
            let failures = units.into_iter().flat_map(|(failures, _)| failures).collect();
            let (recipe, query) = (planned.recipe.clone(), planned.query.clone());
            all.push(ResponseErrors { recipe, query, refused, failures });
        }
        Ok(all)
    }

    /// Why `entry` has no response.
    pub(super) fn failure(&self, entry: usize) -> Option<&ResponseFailure> {
        self.failures.get(&entry)
    }

    /// All failures in case order.
    pub(super) fn failures(&self) -> impl ExactSizeIterator<Item = (usize, &ResponseFailure)> {
        self.failures.iter().map(|(entry, failure)| (*entry, failure))
    }
}

/// The failures of the responses of a unit by entry, and how many of its answers are refusals.
fn of_table(
    context: &dyn Context,
    step: Step,
    table: &ResponseTable,
    cases: &CaseList,
    unit: usize,
) -> Result<(Vec<(usize, ResponseFailure)>, u64), StageError> {
    let made = || UnitFailures::read(context, step, table, cases, unit);
    let size = |failures: &UnitFailures| failures.failures.len() * size_of::<ResponseFailure>();
    let kept = derived_on_all_cores(context, &table.results, size, made)?;
    // The same results may be those of other cases, and have other answers.
    match kept.of == (table.answers, cases.identity(unit)) {
        true => Ok((kept.failures.clone(), kept.refused)),
        false => made().map(|made| (made.failures, made.refused)),
    }
}

/// What [`of_table`] gives, read once by all who sum responses up and report them.
struct UnitFailures {
    of: (Option<Digest>, CasesOfUnit),
    failures: Vec<(usize, ResponseFailure)>,
    refused: u64,
}

impl UnitFailures {
    fn read(
        context: &dyn Context,
        step: Step,
        table: &ResponseTable,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Self, StageError> {
        let fault = |digest: Digest| move |error: DecodeError| StageError::artifact(step, &digest, error);
        let results = opened::<Results>(context, step, &table.results)?;
        cases.check_table(step, &table.results, unit, &results)?;
        let answers = match &table.answers {
            Some(digest) => {
                let answers = opened::<Answers>(context, step, digest)?;
                cases.check_table(step, digest, unit, &answers)?;
                Some((digest, answers))
            }
            None => None,
        };
        let of_group = |(group, rows): (usize, std::ops::Range<usize>)| {
            let failure = |step, error| ResponseFailure { step, error };
            let (ids, errors, came_along) = Results::outcomes(&results, group).map_err(fault(table.results))?;
            let ids = ids.iter().map(Option::unwrap_or_default);
            cases.check_rows(step, &table.results, unit, rows.start, ids)?;
            let mut failures: Vec<Option<ResponseFailure>> = errors
                .into_iter()
                .map(|error| Some(failure(Step::Retrieve, error.filter(RowError::is_failure)?)))
                .collect();
            let refused = match &answers {
                Some((digest, answers)) => {
                    let (ids, errors, refused) = Answers::outcomes(answers, group).map_err(fault(**digest))?;
                    cases.check_rows(step, digest, unit, rows.start, ids.iter().map(Option::unwrap_or_default))?;
                    let whole: Vec<bool> = errors.iter().map(Option::is_none).collect();
                    for (known, error) in failures.iter_mut().zip(errors) {
                        if known.is_none() {
                            *known = error.filter(RowError::is_failure).map(|error| failure(Step::Answer, error));
                        }
                    }
                    refused.iter().zip(whole).filter(|(refused, whole)| **refused && *whole).count()
                }
                None => {
                    came_along.iter().zip(&failures).filter(|(refused, failed)| **refused && failed.is_none()).count()
                }
            };
            let first = cases.range(unit).start + rows.start;
            let failures = failures.into_iter().enumerate().filter_map(|(row, failure)| Some((first + row, failure?)));
            Ok((failures.collect::<Vec<_>>(), refused as u64))
        };
        let groups: Vec<_> = cases.groups(unit).collect();
        let groups = groups.into_par_iter().map(of_group).collect::<Result<Vec<_>, StageError>>()?;
        let refused = groups.iter().map(|(_, refused)| refused).sum();
        let failures = groups.into_iter().flat_map(|(failures, _)| failures).collect();
        Ok(UnitFailures { of: (table.answers, cases.identity(unit)), failures, refused })
    }
}
