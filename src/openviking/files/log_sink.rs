//! `benchmark.log`: what a run says, in the lines of OpenViking's benchmark.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::error::OpenVikingError;
use crate::clock::now;
use crate::exec::{Event, EventSink};
use crate::progress::Notices;

/// Appends lines of the form `time | LEVEL   | message` to a file. A log that cannot be written any more stops no run.
pub struct LogSink {
    file: Mutex<(File, Notices)>,
}

impl LogSink {
    /// Appends to the file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Arc<Self>, OpenVikingError> {
        let io = |error| OpenVikingError::Io { what: format!("write {}", path.display()), error };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(io)?;
        Ok(Arc::new(LogSink { file: Mutex::new((file, Notices::default())) }))
    }

    /// Writes a line.
    pub fn say(&self, level: &str, message: &str) {
        let mut state = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut state.0, level, message);
    }
}

fn write(file: &mut File, level: &str, message: &str) {
    let message = message.replace('\n', " ");
    let _ = writeln!(file, "{} | {level:<7} | {message}", now());
}

impl EventSink for LogSink {
    fn event(&self, event: &Event) {
        let mut state = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, notices) = &mut *state;
        let notice = notices.line(event);
        let level = match event {
            Event::RowFailed { .. } | Event::RowRetried { .. } => "WARNING",
            _ => "INFO",
        };
        match event {
            Event::ActionStarted { label, .. } => write(file, level, &format!("{label}: started")),
            Event::ActionFinished { label, elapsed_ms, failed, .. } => {
                write(file, level, &format!("{label}: done in {:.2} s, {failed} failed", elapsed_ms / 1e3));
            }
            Event::RunFinished { executed, fresh, rows_computed, rows_failed, .. } => {
                let message = format!(
                    "{executed} actions ran, {fresh} were up to date; {rows_computed} rows, {rows_failed} failed"
                );
                write(file, level, &message);
            }
            _ => notice.iter().for_each(|notice| write(file, level, notice)),
        }
    }
}
