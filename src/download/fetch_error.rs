//! Why something could not be brought here.

use std::fmt;
use std::io;
use std::path::Path;

/// A model or a dataset, or a file of one, that could not be brought here.
#[derive(Debug)]
pub struct FetchError {
    /// What was being done, as in "cannot ...".
    pub operation: &'static str,
    /// The file, folder or URL.
    pub place: String,
    /// Why it failed.
    pub kind: FetchErrorKind,
}

/// Why something could not be brought here.
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// No model or dataset of that name is known, and nothing says where it is.
    Unknown(&'static str),
    /// There is no such file.
    NotThere,
    /// The file is another one than the pinned one.
    Mismatch {
        /// What was expected, in words.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The file is another one than the one that the lock file recorded.
    Changed {
        /// The lock file.
        lock: String,
        /// What it recorded, in words.
        recorded: String,
        /// What was found.
        found: String,
    },
    /// A folder that something else made stands in the way.
    Occupied,
    /// A file of ours, or an archive, is not what it should be.
    Malformed(String),
    /// The server could not be reached, or the connection was cut.
    Connection(String),
    /// The server refused with this status.
    Status {
        /// The status.
        status: u16,
        /// Seconds that the server asks to wait.
        retry_after_s: Option<u64>,
    },
    /// A file or folder of ours.
    Io(io::Error),
}

impl FetchError {
    /// Whether asking again may help.
    pub(super) fn is_passing(&self) -> bool {
        match self.kind {
            FetchErrorKind::Connection(_) => true,
            FetchErrorKind::Status { status, .. } => matches!(status, 408 | 416 | 429) || status >= 500,
            _ => false,
        }
    }

    /// Seconds that a server asks to wait.
    pub(super) fn retry_after_s(&self) -> Option<u64> {
        match self.kind {
            FetchErrorKind::Status { retry_after_s, .. } => retry_after_s,
            _ => None,
        }
    }

    pub(crate) fn io(operation: &'static str, place: &Path, error: io::Error) -> Self {
        FetchError { operation, place: place.display().to_string(), kind: FetchErrorKind::Io(error) }
    }

    pub(crate) fn malformed(operation: &'static str, place: &Path, why: impl Into<String>) -> Self {
        FetchError { operation, place: place.display().to_string(), kind: FetchErrorKind::Malformed(why.into()) }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: ", self.operation, self.place)?;
        match &self.kind {
            FetchErrorKind::Unknown(what) => write!(f, "no {what} of that name is known"),
            FetchErrorKind::NotThere => f.write_str("it does not exist"),
            FetchErrorKind::Mismatch { expected, found } => write!(f, "expected {expected}, found {found}"),
            FetchErrorKind::Changed { lock, recorded, found } => {
                write!(f, "it changed since {lock} recorded it: expected {recorded}, found {found}")
            }
            FetchErrorKind::Occupied => f.write_str("it exists, and no earlier download of this dataset is recorded"),
            FetchErrorKind::Malformed(why) | FetchErrorKind::Connection(why) => f.write_str(why),
            FetchErrorKind::Status { status, retry_after_s } => {
                write!(f, "the server replied with status {status}")?;
                match retry_after_s {
                    Some(seconds) => write!(f, " and asks to wait {seconds} s"),
                    None => Ok(()),
                }
            }
            FetchErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for FetchError {}
