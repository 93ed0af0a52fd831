//! What a run has done so far, by step.

use std::collections::BTreeMap;

use ragstage_stages::step::Step;

use crate::exec::Event;

/// Counts of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Actions that were there already.
    pub fresh: usize,
    /// Actions that have to run.
    pub stale: usize,
    /// Actions that ran, here or elsewhere.
    pub finished: usize,
    /// Those of them that ran elsewhere: in another process, or for another evaluation or recipe.
    pub shared: usize,
    /// Rows to compute.
    pub rows: usize,
    /// Rows computed.
    pub rows_done: usize,
    /// Rows found in the row cache by actions that ran.
    pub rows_cached: usize,
    /// Rows that failed.
    pub rows_failed: usize,
}

/// Counts by step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The steps that were met.
    pub steps: BTreeMap<Step, Count>,
}

impl Tally {
    /// Takes an event in.
    pub fn take(&mut self, event: &Event) {
        let mut count = |step: &Step, change: &dyn Fn(&mut Count)| change(self.steps.entry(*step).or_default());
        match event {
            Event::ActionFresh { step, .. } => count(step, &|c| c.fresh += 1),
            Event::ActionStale { step, .. } => count(step, &|c| c.stale += 1),
            Event::ActionFinished { step, .. } => count(step, &|c| c.finished += 1),
            Event::ActionShared { step, .. } => count(step, &|c| {
                c.finished += 1;
                c.shared += 1;
            }),
            Event::RowsPlanned { step, total, cached, .. } => count(step, &|c| {
                c.rows += total - cached;
                c.rows_cached += cached;
            }),
            Event::RowDone { step, .. } => count(step, &|c| c.rows_done += 1),
            Event::RowFailed { step, .. } => count(step, &|c| c.rows_failed += 1),
            _ => {}
        }
    }
}

impl Count {
    /// The count in words.
    pub fn words(&self) -> String {
        let mut words = format!("{} ran, {} fresh", self.finished - self.shared, self.fresh + self.shared);
        if self.rows + self.rows_cached > 0 {
            words += &format!("; rows: {} computed, {} cached", self.rows_done, self.rows_cached);
        }
        if self.rows_failed > 0 {
            words += &format!(", {} FAILED", self.rows_failed);
        }
        words
    }
}
