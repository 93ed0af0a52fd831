//! Blobs by the digest of their bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::layout::Layout;
use crate::{Digest, StoreError, StoreErrorKind};

pub(crate) const BUCKET: &str = "cas-v1";

/// The content-addressed store: `cas-v1/ab/cdef…` holds the bytes whose blake3 is `abcdef…`.
#[derive(Debug)]
pub struct Cas {
    layout: Arc<Layout>,
}

impl Cas {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Cas { layout }
    }

    /// Stores `bytes`, durably, and returns their digest. Nothing is written when a blob of that digest and size is there.
    ///
    /// # Errors
    /// When the bytes cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        if !self.has(&digest, bytes.len() as u64) {
            self.layout.write("write blob", &self.path(&digest), bytes)?;
        }
        Ok(digest)
    }

    /// The bytes of a blob, verified against its digest.
    ///
    /// # Errors
    /// [`StoreErrorKind::Missing`] when it is not there, [`StoreErrorKind::Corrupt`] when its bytes are others: it is
    /// then in `quarantine/`, and an incident is recorded.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let path = self.path(digest);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => lost(&path, StoreErrorKind::Missing { expected: *digest }),
            _ => StoreError::io("read blob", &path, error),
        })?;
        if Digest::of(&bytes) != *digest {
            return Err(self.corrupt(&path, digest));
        }
        Ok(bytes)
    }

    /// The file of a blob, its bytes verified against its digest without keeping them.
    ///
    /// # Errors
    /// As [`Cas::get`].
    pub fn file(&self, digest: &Digest) -> Result<PathBuf, StoreError> {
        let path = self.path(digest);
        let mut hasher = blake3::Hasher::new();
        hasher.update_mmap(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => lost(&path, StoreErrorKind::Missing { expected: *digest }),
            _ => StoreError::io("read blob", &path, error),
        })?;
        if Digest(*hasher.finalize().as_bytes()) != *digest {
            return Err(self.corrupt(&path, digest));
        }
        Ok(path)
    }

    /// Whether a blob of that digest and size (in bytes) is there. One `stat`: the content is verified when it is read.
    pub fn has(&self, digest: &Digest, bytes: u64) -> bool {
        fs::metadata(self.path(digest)).is_ok_and(|found| found.is_file() && found.len() == bytes)
    }

    fn corrupt(&self, path: &Path, digest: &Digest) -> StoreError {
        self.layout.quarantine(path, format!("content is not {}", digest.short()));
        lost(path, StoreErrorKind::Corrupt { expected: *digest })
    }

    /// Where the blob is, or would be.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.layout.place(BUCKET, digest, "")
    }
}

fn lost(path: &Path, kind: StoreErrorKind) -> StoreError {
    StoreError { operation: "read blob", place: path.to_path_buf(), kind }
}
