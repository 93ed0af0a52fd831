//! The files that an evaluation reads: hashed once, found again by digest, listed for depfiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::{Digest, Store};

/// A file's digest and size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFact {
    /// Digest of its content.
    pub digest: Digest,
    /// Size in bytes.
    pub size: u64,
}

/// All files read so far.
pub struct Sources {
    store: Arc<Store>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    by_digest: BTreeMap<Digest, PathBuf>,
    read: BTreeSet<PathBuf>,
}

impl Sources {
    /// No files yet.
    pub fn new(store: Arc<Store>) -> Self {
        Sources { store, known: Mutex::new(Known::default()) }
    }

    /// The digest of the file, from the memo where it did not change; `None` where there is no such file.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn fact(&self, path: &Path) -> std::io::Result<Option<FileFact>> {
        let found = match self.store.memo().digest(path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_digest.insert(found.digest, path.to_path_buf());
        known.read.insert(path.to_path_buf());
        Ok(Some(FileFact { digest: found.digest, size: found.size }))
    }

    /// The path of a file that had this digest when it was last looked at.
    pub fn path(&self, digest: &Digest) -> Option<PathBuf> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).by_digest.get(digest).cloned()
    }

    /// Every file read, sorted.
    pub fn read(&self) -> Vec<PathBuf> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).read.iter().cloned().collect()
    }
}
