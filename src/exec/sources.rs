//! The files that an evaluation reads: hashed once, found again by digest, listed for depfiles.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::{Digest, Store};
use ragstage_stages::error::{InputError, Place};

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
    read: BTreeMap<PathBuf, Option<FileStamp>>,
}

/// What tells whether a file may have been written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// `None` where there is no such file.
    fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(FileStamp {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
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
        // Taken first: what is written to while it is hashed is then known to have changed.
        let stamp = FileStamp::of(path);
        let found = match self.store.memo().digest(path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_digest.insert(found.digest, path.to_path_buf());
        known.read.insert(path.to_path_buf(), stamp);
        Ok(Some(FileFact { digest: found.digest, size: found.size }))
    }

    /// The digest alone of a file that the user names, with the error that is told of it.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn digest(&self, path: &Path) -> Result<Option<Digest>, InputError> {
        match self.fact(path) {
            Ok(fact) => Ok(fact.map(|fact| fact.digest)),
            Err(error) => Err(InputError::new(Place::file(path), format!("cannot be read: {error}"))),
        }
    }

    /// The path of a file that had this digest when it was last looked at.
    pub fn path(&self, digest: &Digest) -> Option<PathBuf> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).by_digest.get(digest).cloned()
    }

    /// Whether the file may have been written to since its digest was last asked for, even if it was put back since.
    pub fn was_touched(&self, path: &Path) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).read.get(path).copied();
        known.flatten() != FileStamp::of(path)
    }

    /// Every file read, sorted.
    pub fn read(&self) -> Vec<PathBuf> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).read.keys().cloned().collect()
    }
}
