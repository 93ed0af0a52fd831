//! What is wrong with a file, counted beyond the first ones.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ragstage_stages::error::{InputError, Place};

/// The faults of one file.
#[derive(Debug)]
pub struct Faults {
    path: PathBuf,
    /// Whether the file is a table, and a line a row.
    table: bool,
    told: Vec<InputError>,
    more: u64,
}

/// One fault, placed by a line that is counted from some block's first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line.
    pub line: u64,
    /// The column, where one is to blame.
    pub column: Option<u64>,
    /// What was expected and found.
    pub message: String,
    /// The earlier line that it contradicts.
    pub earlier: Option<u64>,
    /// What to do.
    pub hint: &'static str,
}

impl Faults {
    /// Faults of one file that are told one by one.
    pub const MOST: usize = 20;

    /// No faults of `path`.
    pub fn of(path: &Path) -> Self {
        Faults { path: path.to_path_buf(), table: false, told: Vec::new(), more: 0 }
    }

    /// No faults of the table `path`.
    pub fn of_table(path: &Path) -> Self {
        Faults { table: true, ..Faults::of(path) }
    }

    /// One more; `before` lines come before its block.
    pub fn add(&mut self, fault: Fault, before: u64) {
        if self.told.len() == Self::MOST {
            self.more += 1;
            return;
        }
        let line = before + fault.line;
        let unit = if self.table { "row" } else { "line" };
        let mut message = fault.message;
        if let Some(earlier) = fault.earlier {
            message += &format!(", and in {unit} {}", before + earlier);
        }
        let place = if self.table {
            message = format!("row {line}: {message}");
            Place::file(&self.path)
        } else {
            Place { file: self.path.clone(), line: Some(line), column: fault.column }
        };
        self.told.push(InputError::new(place, message).hint(fault.hint));
    }

    /// More that are only counted.
    pub fn count(&mut self, more: u64) {
        self.more += more;
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// All of them.
    pub fn into_errors(mut self) -> Vec<InputError> {
        if self.more > 0 {
            let unit = if self.table { "rows" } else { "lines" };
            let message = format!("{} more {unit} are wrong and not told", self.more);
            self.told.push(InputError::new(Place::file(&self.path), message));
        }
        self.told
    }
}

/// A file that cannot be read. One that is there and can be opened is not what it should be: gzip that was cut off or is damaged
/// has these kinds of error, and so have the errors of [`super::blocks`].
pub fn unreadable(path: &Path, error: &std::io::Error) -> Vec<InputError> {
    let hint = match error.kind() {
        ErrorKind::UnexpectedEof => "the gzip ends before its end: fetch or pack the file again",
        ErrorKind::InvalidInput => "the gzip is damaged: fetch or pack the file again",
        ErrorKind::InvalidData => "save the file as UTF-8",
        ErrorKind::FileTooLarge => "is the file what it should be?",
        _ => "name a file that is there and may be read",
    };
    vec![InputError::new(Place::file(path), format!("cannot be read: {error}")).hint(hint)]
}
