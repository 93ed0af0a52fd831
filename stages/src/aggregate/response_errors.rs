//! Which cases of a query have no response, and why.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::action::ResponseTable;
use super::case_list::CaseList;
use super::planned_query::PlannedQuery;
use super::unit_responses::{ResponseFailure, UnitResponses};
use crate::contract::Context;
use crate::error::StageError;
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
                let Some(table) = table else {
                    return Ok((cases.range(unit).map(|entry| (entry, ResponseFailure::absent())).collect(), 0));
                };
                let responses = UnitResponses::read(context, step, table, cases, unit)?;
                let rows = || cases.range(unit).enumerate();
                let refused = rows().filter(|(row, _)| responses.answer(*row).is_some_and(|answer| answer.refused));
                let failures = rows().filter_map(|(row, entry)| Some((entry, responses.failure(row)?)));
                Ok((failures.collect(), refused.count() as u64))
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
