//! Bars, for terminals: one per step that has work.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use ragstage_stages::step::Step;

use super::notices::Notices;
use super::tally::Tally;
use crate::exec::{Event, EventSink};

struct State {
    tally: Tally,
    notices: Notices,
    bars: BTreeMap<Step, ProgressBar>,
}

/// Draws bars on stderr.
pub struct Bars {
    all: MultiProgress,
    going: ProgressStyle,
    ended: ProgressStyle,
    state: Mutex<State>,
}

impl Bars {
    /// Bars from now on.
    pub fn new() -> Self {
        let style =
            |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bars {
            all: MultiProgress::new(),
            going: style("{prefix:<16} {bar:30} {pos}/{len} {msg} {elapsed} (eta {eta})"),
            ended: style("{prefix:<16} {bar:30} {pos}/{len} {msg}"),
            state: Mutex::new(State { tally: Tally::default(), notices: Notices::default(), bars: BTreeMap::new() }),
        }
    }
}

impl Default for Bars {
    fn default() -> Self {
        Self::new()
    }
}

impl EventSink for Bars {
    fn event(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.tally.take(event);
        if let Some(line) = state.notices.line(event) {
            // A terminal that cannot be drawn on loses a notice, which the run record has.
            let _ = self.all.println(crate::plain::plain(&line));
        }
        let step = match event {
            Event::ActionStale { step, .. }
            | Event::ActionFinished { step, .. }
            | Event::RowsPlanned { step, .. }
            | Event::RowDone { step, .. }
            | Event::RowsDone { step, .. }
            | Event::RowFailed { step, .. } => *step,
            Event::RunFinished { .. } => {
                for (step, bar) in &state.bars {
                    let words = state.tally.steps.get(step).map(|count| count.words()).unwrap_or_default();
                    // Each bar's own clock has gone on since its last row; it would only mislead.
                    bar.set_style(self.ended.clone());
                    bar.finish_with_message(words);
                }
                return;
            }
            _ => return,
        };
        let Some(count) = state.tally.steps.get(&step).copied() else { return };
        let bar = state.bars.entry(step).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new(0));
            bar.set_style(self.going.clone());
            bar.set_prefix(step.name());
            bar
        });
        // Rows where the step has any, else actions.
        if count.rows > 0 {
            bar.set_length(count.rows as u64);
            bar.set_position((count.rows_done + count.rows_failed) as u64);
        } else {
            bar.set_length(count.stale as u64);
            bar.set_position(count.finished as u64);
        }
        let mut message = String::new();
        if count.parts > 0 {
            message = format!("{}/{} for them", count.parts_done + count.parts_failed, count.parts);
        }
        if count.rows_failed > 0 {
            message += &format!("{}{} failed", if message.is_empty() { "" } else { ", " }, count.rows_failed);
        }
        if !message.is_empty() {
            bar.set_message(message);
        }
    }
}
