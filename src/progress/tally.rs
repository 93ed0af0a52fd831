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
    /// Rows to compute for the sake of those: what cases ask of models.
    pub parts: usize,
    /// Those of them that are computed.
    pub parts_done: usize,
    /// Those of them that failed.
    pub parts_failed: usize,
    /// Those that were found in the row cache.
    pub parts_cached: usize,
}

/// Counts by step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The steps that were met.
    pub steps: BTreeMap<Step, Count>,
    /// Where each action stands, by its label: one that is looked at again is counted once, as what it came to last.
    standings: BTreeMap<String, Standing>,
}

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Fresh,
    Stale,
    Finished,
    Shared,
}

impl Tally {
    /// Takes an event in.
    pub fn take(&mut self, event: &Event) {
        let mut count = |step: &Step, change: &dyn Fn(&mut Count)| change(self.steps.entry(*step).or_default());
        match event {
            Event::ActionFresh { step, label, .. } => self.stands(*step, label, Standing::Fresh),
            Event::ActionStale { step, label, .. } => self.stands(*step, label, Standing::Stale),
            Event::ActionFinished { step, label, .. } => self.stands(*step, label, Standing::Finished),
            Event::ActionShared { step, label, .. } => self.stands(*step, label, Standing::Shared),
            Event::RowsPlanned { step, total, cached, nested: true, .. } => count(step, &|c| {
                c.parts += total - cached;
                c.parts_cached += cached;
            }),
            Event::RowDone { step, nested: true, .. } => count(step, &|c| c.parts_done += 1),
            Event::RowFailed { step, nested: true, .. } => count(step, &|c| c.parts_failed += 1),
            Event::RowsPlanned { step, total, cached, .. } => count(step, &|c| {
                c.rows += total - cached;
                c.rows_cached += cached;
            }),
            Event::RowDone { step, .. } => count(step, &|c| c.rows_done += 1),
            Event::RowsDone { step, rows, .. } => count(step, &|c| c.rows_done += rows),
            Event::RowFailed { step, .. } => count(step, &|c| c.rows_failed += 1),
            _ => {}
        }
    }

    fn stands(&mut self, step: Step, label: &str, now: Standing) {
        let count = self.steps.entry(step).or_default();
        if let Some(before) = self.standings.insert(label.to_string(), now) {
            count.of(before).into_iter().for_each(|number| *number -= 1);
        }
        count.of(now).into_iter().for_each(|number| *number += 1);
    }
}

impl Count {
    /// The numbers that an action is part of.
    fn of(&mut self, standing: Standing) -> Vec<&mut usize> {
        match standing {
            Standing::Fresh => vec![&mut self.fresh],
            Standing::Stale => vec![&mut self.stale],
            Standing::Finished => vec![&mut self.stale, &mut self.finished],
            Standing::Shared => vec![&mut self.stale, &mut self.finished, &mut self.shared],
        }
    }

    /// The count in words.
    pub fn words(&self) -> String {
        let mut words = format!("{} ran, {} fresh", self.finished - self.shared, self.fresh + self.shared);
        if self.rows + self.rows_cached > 0 {
            words += &format!("; rows: {} computed, {} cached", self.rows_done, self.rows_cached);
        }
        if self.rows_failed > 0 {
            words += &format!(", {} FAILED", self.rows_failed);
        }
        if self.parts + self.parts_cached > 0 {
            words += &format!("; for them: {} computed, {} cached", self.parts_done, self.parts_cached);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_that_was_fresh_and_then_ran_ran_only() {
        let mut tally = Tally::default();
        let (step, key) = (Step::Ingest, ragstage_cache::Digest::of(b"key"));
        let fresh = |label: &str| Event::ActionFresh { step, label: label.to_string(), key };
        tally.take(&fresh("ingest a"));
        tally.take(&fresh("ingest b"));
        tally.take(&Event::ActionStale { step, label: "ingest b".to_string(), key, reasons: Vec::new() });
        tally.take(&Event::ActionFinished {
            step,
            label: "ingest b".to_string(),
            key,
            elapsed_ms: 1.0,
            complete: true,
            failed: 0,
            same_outputs: true,
        });
        assert_eq!(tally.steps[&step].words(), "1 ran, 1 fresh");
        assert_eq!(tally.steps[&step].stale, 1);
    }

    #[test]
    fn rows_for_the_sake_of_others_are_counted_apart() {
        let mut tally = Tally::default();
        let (step, label) = (Step::Retrieve, || "retrieve a".to_string());
        let planned = |total, cached, nested| Event::RowsPlanned { step, label: label(), total, cached, nested };
        let done =
            |nested| Event::RowDone { step, label: label(), item: "q".to_string(), attempts: 1, paid: nested, nested };
        for event in [planned(3, 1, false), planned(5, 3, true), done(true), done(true), done(false), done(false)] {
            tally.take(&event);
        }
        let count = tally.steps[&step];
        assert_eq!((count.rows, count.rows_done, count.rows_cached), (2, 2, 1));
        assert_eq!((count.parts, count.parts_done, count.parts_cached), (2, 2, 3));
        assert_eq!(count.words(), "0 ran, 0 fresh; rows: 2 computed, 1 cached; for them: 2 computed, 3 cached");
    }
}
