//! Progress of a model that is fetched, on stderr.

use std::cell::RefCell;

use indicatif::{ProgressBar, ProgressStyle};

use crate::models::Notice;

/// A line for each file, and a bar where stderr is a terminal.
pub struct ModelBar {
    bar: ProgressBar,
    file: RefCell<String>,
}

impl ModelBar {
    /// Shows nothing yet.
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes} ({bytes_per_sec})") {
            bar.set_style(style);
        }
        ModelBar { bar, file: RefCell::new(String::new()) }
    }

    /// Tells what happens.
    pub fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Waiting => self.line("waiting for another ragstage that fetches the same model"),
            Notice::File(name) => self.file.replace(name.to_string()).clear(),
            Notice::Receiving { have, size } => {
                let mut text = self.file.borrow().clone();
                if let Some(size) = size {
                    text += &format!(", {size} bytes");
                }
                if *have > 0 {
                    text += &format!(", continued after {have}");
                }
                self.line(&text);
                self.bar.set_length(size.unwrap_or(0));
                self.bar.set_position(*have);
            }
            Notice::Bytes(bytes) => self.bar.inc(*bytes),
            Notice::Retrying { why } => self.line(&format!("{why}; trying again")),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| tell!("{text}"));
    }
}
