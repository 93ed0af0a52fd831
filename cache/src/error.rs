//! What can go wrong in the store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Digest;

/// An operation on the store that could not be done: what was being done, where, and why not.
#[derive(Debug)]
pub struct StoreError {
    /// What was being done, e.g. `write blob`.
    pub operation: &'static str,
    /// The file or directory concerned.
    pub place: PathBuf,
    /// Why it could not be done.
    pub kind: StoreErrorKind,
}

/// The reasons that the store distinguishes.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The operating system said no.
    Io(io::Error),
    /// The device or the quota is full.
    Full,
    /// The store cannot be written to.
    ReadOnly,
    /// The store was written by a newer ragstage.
    Newer {
        /// The version found on disk.
        found: u32,
        /// The newest version that this binary reads.
        known: u32,
    },
    /// The bytes of a blob are not those its name promises; the blob was moved to quarantine.
    Corrupt {
        /// The digest that was asked for.
        expected: Digest,
    },
    /// A blob that a record names is not there.
    Missing {
        /// The digest that was asked for.
        expected: Digest,
    },
    /// Another process has the store open.
    InUse,
    /// A file of the store does not have the format that its place promises.
    Malformed(String),
}

impl StoreError {
    /// An error of the operating system, sorted into the kinds that matter to users.
    pub fn io(operation: &'static str, place: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => StoreErrorKind::ReadOnly,
            _ => StoreErrorKind::Io(error),
        };
        StoreError { operation, place: place.to_path_buf(), kind }
    }

    /// A file whose content is not what its place promises.
    pub fn malformed(operation: &'static str, place: &Path, why: impl fmt::Display) -> Self {
        StoreError { operation, place: place.to_path_buf(), kind: StoreErrorKind::Malformed(why.to_string()) }
    }

    /// The blob that was lost or corrupt, where that is the kind of this error.
    pub fn lost_blob(&self) -> Option<Digest> {
        match &self.kind {
            StoreErrorKind::Corrupt { expected } | StoreErrorKind::Missing { expected } => Some(*expected),
            _ => None,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.operation, self.place.display())?;
        match &self.kind {
            StoreErrorKind::Io(error) => write!(f, "{error}"),
            StoreErrorKind::Full => f.write_str("no space left"),
            StoreErrorKind::ReadOnly => f.write_str("not writable"),
            StoreErrorKind::Newer { found, known } => {
                write!(f, "format version {found}, this program reads up to {known}")
            }
            StoreErrorKind::Corrupt { expected } => write!(f, "content is not {}", expected.short()),
            StoreErrorKind::Missing { expected } => write!(f, "blob {} is gone", expected.short()),
            StoreErrorKind::InUse => f.write_str("in use by another process"),
            StoreErrorKind::Malformed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            StoreErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
