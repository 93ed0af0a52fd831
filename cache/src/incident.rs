//! Damage that the store found and survived.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Something wrong on disk that the store worked around: the work concerned is done again, and the user is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    /// The file concerned, where it was when the damage was found.
    pub path: PathBuf,
    /// What was found, e.g. `content is not c36b09882fe2`.
    pub found: String,
    /// What was done about it, e.g. `moved to quarantine/…`.
    pub done: String,
}

impl fmt::Display for Incident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path.display(), self.found, self.done)
    }
}

/// The incidents of one store, shared by all its parts and threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Incidents(Arc<Mutex<Vec<Incident>>>);

impl Incidents {
    pub(crate) fn record(&self, path: &Path, found: impl Into<String>, done: impl Into<String>) {
        self.lock().push(Incident { path: path.to_path_buf(), found: found.into(), done: done.into() });
    }

    pub(crate) fn all(&self) -> Vec<Incident> {
        self.lock().clone()
    }

    pub(crate) fn take(&self) -> Vec<Incident> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Incident>> {
        // A list of finished entries is whole whatever a panicking thread was doing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
