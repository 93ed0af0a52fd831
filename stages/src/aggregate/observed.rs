//! What was observed of the responses of one unit in one query mode.

use std::collections::BTreeMap;
use std::sync::Arc;

use ragstage_cache::Digest;
use rayon::prelude::*;

use super::action::ResponseTable;
use super::case_list::CaseList;
use super::usage::UsagePart;
use crate::artifact::Observations;
use crate::contract::{Context, derived, opened};
use crate::error::{StageError, StageErrorKind};
use crate::model::ModelUsage;
use crate::step::Step;

/// Row groups that are read before what they say is put together.
const GROUPS_AT_ONCE: usize = 16;

/// The observation tables of one unit in one query mode of one recipe.
pub(super) struct Observed {
    retrieve: Option<Arc<Part>>,
    answer: Option<Arc<Part>>,
}

/// One table.
struct Part {
    /// Milliseconds; not finite where there are none.
    latencies: Vec<f64>,
    /// Whether a row was tried by itself.
    tried: Vec<bool>,
    /// What models took; most rows ask none.
    usage: BTreeMap<usize, Vec<ModelUsage>>,
}

impl Part {
    fn read(
        context: &dyn Context,
        step: Step,
        digest: &Digest,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Arc<Self>, StageError> {
        let table = opened::<Observations>(context, step, digest)?;
        cases.check_table(step, digest, unit, &table)?;
        derived(context, step, digest, &|| {
            let read = |(group, range): (usize, std::ops::Range<usize>)| {
                let rows = Observations::read(&table, group).map_err(|error| StageError {
                    step,
                    kind: StageErrorKind::Artifact { digest: *digest, why: error.to_string() },
                })?;
                cases.check_rows(step, digest, unit, range.start, rows.iter().map(|row| row.case_id.as_str()))?;
                let mut part = Part { latencies: Vec::new(), tried: Vec::new(), usage: BTreeMap::new() };
                for (row, observation) in range.zip(rows) {
                    part.latencies.push(observation.latency_ms.unwrap_or(f64::NAN));
                    part.tried.push(observation.attempts > 0);
                    if !observation.usage.is_empty() {
                        part.usage.insert(row, observation.usage);
                    }
                }
                Ok(part)
            };
            let groups: Vec<_> = cases.groups(unit).collect();
            let mut all = Part { latencies: Vec::new(), tried: Vec::new(), usage: BTreeMap::new() };
            for groups in groups.chunks(GROUPS_AT_ONCE) {
                for part in groups.par_iter().cloned().map(read).collect::<Result<Vec<_>, StageError>>()? {
                    all.latencies.extend(part.latencies);
                    all.tried.extend(part.tried);
                    all.usage.extend(part.usage);
                }
            }
            Ok(all)
        })
    }
}

impl Observed {
    /// Reads the tables that there are.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        table: &ResponseTable,
        cases: &CaseList,
        unit: usize,
    ) -> Result<Self, StageError> {
        let read = |digest: &Option<Digest>| {
            digest.as_ref().map(|digest| Part::read(context, step, digest, cases, unit)).transpose()
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

    /// What models took for a part of row `row` of the unit.
    pub(super) fn usage(&self, part: UsagePart, row: usize) -> &[ModelUsage] {
        let table = match part {
            UsagePart::Retrieve => &self.retrieve,
            UsagePart::Answer => &self.answer,
        };
        table.as_ref().and_then(|table| table.usage.get(&row)).map(Vec::as_slice).unwrap_or_default()
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

fn latency(table: &Option<Arc<Part>>, row: usize) -> Option<f64> {
    table.as_ref()?.latencies.get(row).copied().filter(|ms| ms.is_finite())
}
