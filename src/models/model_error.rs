//! Why a model could not be brought here.

use std::fmt;
use std::io;

/// A model, or a file of one, that could not be brought here.
#[derive(Debug)]
pub struct ModelError {
    /// What was being done, as in "cannot ...".
    pub operation: &'static str,
    /// The file, folder or URL.
    pub place: String,
    /// Why it failed.
    pub kind: ModelErrorKind,
}

/// Why a model could not be brought here.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No model of that name is pinned, and nothing says where it is.
    Unknown,
    /// There is no such file.
    NotThere,
    /// The file is another one than the pinned one.
    Mismatch {
        /// What was expected, in words.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The server could not be reached, or the connection was cut.
    Connection(String),
    /// The server refused with this status.
    Status(u16),
    /// A file or folder of ours.
    Io(io::Error),
}

impl ModelError {
    /// Whether asking again may help.
    pub(super) fn is_passing(&self) -> bool {
        match self.kind {
            ModelErrorKind::Connection(_) => true,
            ModelErrorKind::Status(status) => matches!(status, 408 | 416 | 429) || status >= 500,
            _ => false,
        }
    }

    pub(super) fn io(operation: &'static str, place: &std::path::Path, error: io::Error) -> Self {
        ModelError { operation, place: place.display().to_string(), kind: ModelErrorKind::Io(error) }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: ", self.operation, self.place)?;
        match &self.kind {
            ModelErrorKind::Unknown => f.write_str("no model of that name is known"),
            ModelErrorKind::NotThere => f.write_str("it does not exist"),
            ModelErrorKind::Mismatch { expected, found } => write!(f, "expected {expected}, found {found}"),
            ModelErrorKind::Connection(why) => f.write_str(why),
            ModelErrorKind::Status(status) => write!(f, "the server replied with status {status}"),
            ModelErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ModelError {}
