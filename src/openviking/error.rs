//! What keeps the files of OpenViking's benchmark from being written or read.

use std::io;
use std::path::Path;

use ragstage_cache::StoreError;

use crate::exec::RunError;

/// A file of the experiment, or what it is made of, that cannot be had.
#[derive(Debug)]
pub enum OpenVikingError {
    /// A file or folder.
    Io {
        /// What was being done.
        what: String,
        /// Why it failed.
        error: io::Error,
    },
    /// Something that the user gave is not as it should be.
    Input {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The store, or a fault of ours.
    Run(RunError),
}

impl OpenVikingError {
    /// The file at `path` cannot be written.
    pub fn write(path: &Path, error: io::Error) -> Self {
        OpenVikingError::Io { what: format!("write {}", path.display()), error }
    }
}

impl From<StoreError> for OpenVikingError {
    fn from(error: StoreError) -> Self {
        OpenVikingError::Run(RunError::Store(error))
    }
}
