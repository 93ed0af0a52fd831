//! What was observed of the responses of one unit in one query mode.

use std::sync::Arc;

use ragstage_cache::Digest;

use super::action::ResponseTable;
use super::case_list::CaseList;
use super::usage::UsagePart;
use crate::artifact::Observations;
use crate::contract::{Context, decoded};
use crate::error::StageError;
use crate::model::ModelUsage;
use crate::step::Step;

/// The observation tables of one unit in one query mode of one recipe.
pub(super) struct Observed {
    retrieve: Option<Arc<Observations>>,
    answer: Option<Arc<Observations>>,
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
        let read = |digest: &Option<Digest>| -> Result<Option<Arc<Observations>>, StageError> {
            let Some(digest) = digest else { return Ok(None) };
            let observations = decoded::<Observations>(context, step, digest)?;
            let ids = observations.rows.iter().map(|row| row.case_id.as_str());
            cases.check_rows(step, digest, unit, ids)?;
            Ok(Some(observations))
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
        table.as_ref().and_then(|table| table.rows.get(row)).map(|row| row.usage.as_slice()).unwrap_or_default()
    }

    /// Milliseconds of all that was observed of row `row`; `None` where a part failed, since the rest would look fast.
    pub(super) fn total(&self, row: usize) -> Option<f64> {
        match (&self.retrieve, &self.answer) {
            (Some(_), Some(answers)) => {
                // An answer that came along with the results was never tried by itself and took no time of its own.
                let came_along = answers.rows.get(row).is_some_and(|row| row.attempts == 0);
                Some(self.retrieve(row)? + if came_along { 0.0 } else { self.answer(row)? })
            }
            (Some(_), None) => self.retrieve(row),
            (None, Some(_)) => self.answer(row),
            (None, None) => None,
        }
    }
}

fn latency(table: &Option<Arc<Observations>>, row: usize) -> Option<f64> {
    table.as_ref()?.rows.get(row)?.latency_ms.filter(|ms| ms.is_finite())
}
