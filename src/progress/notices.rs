//! Events that are worth a line of their own.

use std::collections::HashMap;

use crate::exec::Event;
use crate::stale::StaleReason;

/// Lines about one action's failing rows before they are only counted.
const MOST_FAILURES_SHOWN: usize = 3;

/// Turns the rare events into sentences.
#[derive(Default)]
pub struct Notices {
    failures: HashMap<String, usize>,
}

impl Notices {
    /// The line for an event, where it deserves one.
    pub fn line(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::RowRetried { label, item, attempt, wait_ms, error, .. } => Some(format!(
                "{label}: {item}: attempt {attempt} failed ({error}); next in {:.1} s",
                *wait_ms as f64 / 1e3
            )),
            // The row that it was for says it.
            Event::RowFailed { nested: true, .. } => None,
            Event::RowFailed { label, item, error, .. } => {
                let shown = self.failures.entry(label.clone()).or_insert(0);
                *shown += 1;
                match *shown {
                    n if n <= MOST_FAILURES_SHOWN => Some(format!(
                        "{label}: {item} failed after {} attempt{}: {error}",
                        error.attempts,
                        if error.attempts == 1 { "" } else { "s" }
                    )),
                    n if n == MOST_FAILURES_SHOWN + 1 => Some(format!(
                        "{label}: more rows failed; the report lists those of queries and scores, `--events FILE` all"
                    )),
                    _ => None,
                }
            }
            // It was fresh a moment ago, and asks somebody else for work that the plan has not shown.
            Event::ActionStale { label, reasons, .. } => {
                let gone = reasons.iter().find(|reason| matches!(reason, StaleReason::ProbeFailed { .. }))?;
                Some(format!("{label}: handed over again, for {gone}"))
            }
            Event::ActionWaiting { label, .. } => Some(format!("{label}: is being computed already; waiting")),
            Event::ActionFailed { label, error, .. } => {
                // The end of the run lists them all.
                let mut lines = error.lines();
                let first = lines.next().unwrap_or_default();
                Some(match lines.count() {
                    0 => format!("{label}: failed: {first}"),
                    more => format!("{label}: failed: {first} (and {more} more)"),
                })
            }
            Event::StoreIncident { message } => Some(format!("store: {message}")),
            Event::BreakerOpened { pool, error } => {
                Some(format!("{pool}: calls keep failing ({error}); no more are made in this run"))
            }
            Event::PoolStopped { pool, error } => Some(format!("{pool}: refused ({error}); no more calls are made")),
            Event::BudgetReached { pool, error } => {
                Some(format!("{pool}: {error}; calls that do not fit are not made in this run"))
            }
            Event::Interrupted => {
                Some("interrupted: waiting for calls in flight (press Ctrl-C again to stop now)".to_string())
            }
            _ => None,
        }
    }
}
