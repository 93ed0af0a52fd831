//! What was observed of the responses of one unit in one query mode.

use std::collections::BTreeMap;
use std::sync::Arc;

use ragstage_cache::Digest;
use rayon::prelude::*;

use super::action::ResponseTable;
use super::case_list::CaseList;
use super::planned_query::PlannedQuery;
use super::usage::UsagePart;
use crate::artifact::Observations;
use crate::contract::{Context, derived, opened};
use crate::error::StageError;
use crate::model::ModelUsage;
use crate::step::Step;

/// The observation tables of one unit in one query mode of one recipe.
pub(super) struct Observed {
    retrieve: Option<Arc<ObservedRows>>,
    answer: Option<Arc<ObservedRows>>,
}

/// One table.
#[derive(Default)]
pub(super) struct ObservedRows {
    /// Milliseconds; not finite where there are none.
    latencies: Vec<f64>,
    /// Whether a row was tried by itself.
    tried: Vec<bool>,
    /// What models took; most rows ask none.
    usage: BTreeMap<usize, Vec<ModelUsage>>,
}

impl ObservedRows {
    /// Reads the artifact `digest`, a table of unit `unit`.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        digest: &Digest,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Arc<Self>, StageError> {
        let table = opened::<Observations>(context, step, digest)?;
        cases.check_table(step, digest, unit, &table)?;
        derived(context, step, digest, &|| {
            let read = |group: usize, range: std::ops::Range<usize>| {
                let rows =
                    Observations::read(&table, group).map_err(|error| StageError::artifact(step, digest, error))?;
                cases.check_rows(step, digest, unit, range.start, rows.iter().map(|row| row.case_id.as_str()))?;
                let mut part = ObservedRows::default();
                for (row, observation) in range.zip(rows) {
                    part.latencies.push(observation.latency_ms.unwrap_or(f64::NAN));
                    part.tried.push(observation.attempts > 0);
                    if !observation.usage.is_empty() {
                        part.usage.insert(row, observation.usage);
                    }
                }
                Ok(part)
            };
            let mut all = ObservedRows::default();
            cases.read_groups(unit, read, |part| {
                all.latencies.extend(part.latencies);
                all.tried.extend(part.tried);
                all.usage.extend(part.usage);
            })?;
            Ok(all)
        })
    }

    /// What models took for each row that asked one, in the order of the rows.
    pub(super) fn usage(&self) -> impl Iterator<Item = &ModelUsage> {
        self.usage.values().flatten()
    }
}

impl Observed {
    /// Those of each unit that was asked the query `planned`, with the unit's position.
    pub(super) fn all(
        context: &dyn Context,
        step: Step,
        planned: &PlannedQuery,
        tables: &[ResponseTable],
        cases: &CaseList,
    ) -> Result<Vec<(usize, Self)>, StageError> {
        let units = cases.responses(step, planned, tables)?.into_par_iter().enumerate();
        units
            .filter_map(|(unit, table)| Some((unit, table?)))
            .map(|(unit, table)| Ok((unit, Observed::read(context, step, table, cases, unit)?)))
            .collect()
    }

    /// Reads the tables that there are.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        table: &ResponseTable,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Self, StageError> {
        let read = |digest: &Option<Digest>| {
            digest.as_ref().map(|digest| ObservedRows::read(context, step, digest, cases, unit)).transpose()
        };
        Ok(Observed { retrieve: read(&table.retrieve_observations)?, answer: read(&table.answer_observations)? })
    }

    /// Milliseconds of the retrieval of row `row` of the unit.
    pub(super) fn retrieve(&self, row: usize) -> Option<f64> {
        latency(&self.retrieve, row)
    }

    /// Milliseconds of the answer of row `row` of the unit.
    pub(super) fn answer(&self, row: usize) -> Option<f64> {
        latency(&self.answer, row)
    }

    /// The tables that there are, with what they were observed of.
    pub(super) fn parts(&self) -> impl Iterator<Item = (UsagePart, &ObservedRows)> {
        let parts = [(UsagePart::Retrieve, &self.retrieve), (UsagePart::Answer, &self.answer)];
        parts.into_iter().filter_map(|(part, rows)| Some((part, &**rows.as_ref()?)))
    }

    /// What models took for row `row` of the unit: those parts for which any were asked.
    pub(super) fn usage(&self, row: usize) -> impl Iterator<Item = (UsagePart, &[ModelUsage])> {
        self.parts().filter_map(move |(part, rows)| Some((part, rows.usage.get(&row)?.as_slice())))
    }

    /// Milliseconds of all that was observed of row `row`; `None` where a part failed, since the rest would look fast.
    pub(super) fn total(&self, row: usize) -> Option<f64> {
        match (&self.retrieve, &self.answer) {
            (Some(_), Some(answers)) => {
                // An answer that came along with the results was never tried by itself and took no time of its own.
                let came_along = answers.tried.get(row).is_some_and(|tried| !tried);
                Some(self.retrieve(row)? + if came_along { 0.0 } else { self.answer(row)? })
            }
            (Some(_), None) => self.retrieve(row),
            (None, Some(_)) => self.answer(row),
            (None, None) => None,
        }
    }
}

fn latency(table: &Option<Arc<ObservedRows>>, row: usize) -> Option<f64> {
    table.as_ref()?.latencies.get(row).copied().filter(|ms| ms.is_finite())
}
