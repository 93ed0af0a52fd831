//! Progress of a model or a dataset that is fetched, on stderr.

use std::cell::{Cell, RefCell};

use indicatif::{ProgressBar, ProgressStyle};

use crate::download::Notice;

/// Where stderr is no terminal, files of at least this size have a line at every tenth.
const LARGE: u64 = 50_000_000;

/// A line for each file, and a bar where stderr is a terminal.
pub struct DownloadBar {
    bar: ProgressBar,
    what: &'static str,
    file: RefCell<String>,
    /// Tenths of the file that a line told of.
    tenths: Cell<u64>,
}

impl DownloadBar {
    /// Shows nothing yet. `what` is fetched: `model`.
    pub fn new(what: &'static str) -> Self {
        let bar = ProgressBar::no_length();
        let template = "{bar:30} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        DownloadBar { bar, what, file: RefCell::default(), tenths: Cell::new(0) }
    }

    /// Tells what happens.
    pub fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Waiting => self.line(&format!("waiting for another ragstage that fetches the same {}", self.what)),
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
                self.bar.reset_eta();
                self.tenths.set(self.passed());
            }
            Notice::Bytes(bytes) => {
                self.bar.inc(*bytes);
                let passed = self.passed();
                if self.bar.is_hidden() && passed > self.tenths.replace(passed) && passed < 10 {
                    self.line(&format!("{}, {} bytes ({passed}0 %)", self.file.borrow(), self.bar.position()));
                }
            }
            Notice::Retrying { why, after_s: None } => self.line(&format!("{why}; trying again")),
            Notice::Retrying { why, after_s: Some(seconds) } => {
                self.line(&format!("{why}; trying again in {seconds} s"));
            }
            Notice::Unpacking(name) => self.line(&format!("unpacking {name}")),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Whole tenths of a large file that are there.
    fn passed(&self) -> u64 {
        match self.bar.length() {
            Some(length) if length >= LARGE => self.bar.position().saturating_mul(10) / length,
            _ => 0,
        }
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| tell!("{text}"));
    }
}
