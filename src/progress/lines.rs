//! Plain lines, for logs and pipes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::notices::Notices;
use super::tally::Tally;
use crate::exec::{Event, EventSink};

/// Time between two lines that only count.
const PAUSE: Duration = Duration::from_secs(2);

struct State {
    tally: Tally,
    notices: Notices,
    last: Instant,
}

/// Writes lines to stderr.
pub struct Lines {
    state: Mutex<State>,
}

impl Lines {
    /// Lines from now on.
    pub fn new() -> Self {
        Lines {
            state: Mutex::new(State { tally: Tally::default(), notices: Notices::default(), last: Instant::now() }),
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl EventSink for Lines {
    fn event(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.tally.take(event);
        if let Some(line) = state.notices.line(event) {
            tell!("{line}");
        }
        match event {
            Event::RowDone { step, .. } | Event::RowsDone { step, .. } if state.last.elapsed() >= PAUSE => {
                state.last = Instant::now();
                if let Some(count) = state.tally.steps.get(step) {
                    match count.parts {
                        0 => tell!("{step}: {}/{} rows", count.rows_done, count.rows),
                        parts => tell!(
                            "{step}: {}/{} rows, {}/{parts} for them so far",
                            count.rows_done,
                            count.rows,
                            count.parts_done
                        ),
                    }
                }
            }
            Event::RunFinished { .. } => {
                for (step, count) in state.tally.steps.iter().filter(|(_, count)| count.stale > 0) {
                    tell!("{:<16}{}", step.name(), count.words());
                }
            }
            _ => {}
        }
    }
}
