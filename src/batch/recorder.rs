//! Events into run records.

use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::runs::RunDir;

use crate::exec::{Event, EventSink};

/// Writes every event into the run records of its batch.
///
/// The many events that tell of nothing that cost anything (rows computed here, actions found fresh) wait for the next one
/// that does, or for each other: a write for each would be most of what the engine adds to a row. A run that is killed may
/// lack the last of them in its record; their rows are in the row cache all the same.
#[derive(Default)]
pub struct EventRecorder {
    records: Mutex<Vec<Recording>>,
}

struct Recording {
    record: Arc<RunDir>,
    /// Lines that are not written yet, without the last line feed.
    waiting: String,
}

/// So many bytes of events are written at once.
const WAITING_BYTES: usize = 32 << 10;

impl Recording {
    fn take(&mut self, line: &str, may_wait: bool) {
        if !self.waiting.is_empty() {
            self.waiting.push('\n');
        }
        self.waiting.push_str(line);
        if !may_wait || self.waiting.len() >= WAITING_BYTES {
            self.write();
        }
    }

    fn write(&mut self) {
        // A history that cannot be written costs explanations, not results.
        let _ = self.record.append_line("events.jsonl", &self.waiting);
        self.waiting.clear();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.waiting.is_empty() {
            self.write();
        }
    }
}

impl EventRecorder {
    /// Writes the events from now on into `record` too.
    pub fn add(&self, record: Arc<RunDir>) {
        let recording = Recording { record, waiting: String::new() };
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(recording);
    }
}

impl EventSink for EventRecorder {
    fn event(&self, event: &Event) {
        let Ok(line) = serde_json::to_string(event) else { return };
        let may_wait = matches!(
            event,
            Event::RowDone { paid: false, .. }
                | Event::RowsDone { .. }
                | Event::RowsPlanned { .. }
                | Event::ActionFresh { .. }
        );
        for recording in self.records.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            recording.take(&line, may_wait);
        }
    }
}
