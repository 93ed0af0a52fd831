//! Events into run records.

use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::runs::RunDir;

use crate::exec::{Event, EventSink};

/// Writes every event into the run records of its batch.
#[derive(Default)]
pub struct EventRecorder {
    records: Mutex<Vec<Arc<RunDir>>>,
}

impl EventRecorder {
    /// Writes the events from now on into `record` too.
    pub fn add(&self, record: Arc<RunDir>) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

impl EventSink for EventRecorder {
    fn event(&self, event: &Event) {
        let Ok(line) = serde_json::to_string(event) else { return };
        for record in self.records.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A history that cannot be written costs explanations, not results.
            let _ = record.append_line("events.jsonl", &line);
        }
    }
}
