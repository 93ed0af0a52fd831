//! What the parts of a store share: where it is, whether it can be written to, and what went wrong in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::incident::Incidents;
use crate::nonce::nonce;
use crate::scratch::Scratch;
use crate::{Digest, StoreError, StoreErrorKind, atomic};

/// Whether this process may write, and if not why.
#[derive(Debug)]
pub(crate) enum Access {
    Writable(Scratch),
    ReadOnly,
    Full,
}

/// Shared by all parts of one open store.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) access: Access,
    pub(crate) incidents: Incidents,
}

impl Layout {
    /// The process's scratch directory.
    ///
    /// # Errors
    /// When the store is open for reading only; `operation` and `place` are what the caller was about to write.
    pub(crate) fn scratch(&self, operation: &'static str, place: &Path) -> Result<&Scratch, StoreError> {
        let kind = match &self.access {
            Access::Writable(scratch) => return Ok(scratch),
            Access::ReadOnly => StoreErrorKind::ReadOnly,
            Access::Full => StoreErrorKind::Full,
        };
        Err(StoreError { operation, place: place.to_path_buf(), kind })
    }

    pub(crate) fn writable(&self) -> bool {
        matches!(self.access, Access::Writable(_))
    }

    /// Writes a file of the store atomically.
    pub(crate) fn write(&self, operation: &'static str, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let scratch = self.scratch(operation, path)?;
        atomic::write(scratch.path(), path, bytes).map_err(|error| StoreError { operation, ..error })
    }

    /// Writes a JSON document of the store atomically.
    pub(crate) fn write_json(
        &self,
        operation: &'static str,
        path: &Path,
        value: &impl Serialize,
    ) -> Result<(), StoreError> {
        self.write(operation, path, &json(operation, path, value)?)
    }

    /// The same for a document that another one is written beside afterwards, with [`Layout::write_json`].
    pub(crate) fn write_json_beside(
        &self,
        operation: &'static str,
        path: &Path,
        value: &impl Serialize,
    ) -> Result<(), StoreError> {
        let scratch = self.scratch(operation, path)?;
        let bytes = json(operation, path, value)?;
        atomic::place(scratch.path(), path, &bytes).map_err(|error| StoreError::io(operation, path, error))
    }

    /// Moves a damaged file out of the way, keeping its bytes for inspection, and records the incident.
    pub(crate) fn quarantine(&self, path: &Path, found: impl Into<String>) {
        let name = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('/', "-");
        let target = self.root.join("quarantine").join(format!("{name}-{:08x}", nonce()));
        let done = if !self.writable() {
            "left in place: the store cannot be written to".to_string()
        } else {
            match fs::rename(path, &target) {
                Ok(()) => format!("moved to {}", target.display()),
                Err(error) => format!("left in place: {error}"),
            }
        };
        self.incidents.record(path, found, done);
    }

    /// `<bucket>/<first two hex digits>/<the rest><suffix>`.
    pub(crate) fn place(&self, bucket: &str, digest: &Digest, suffix: &str) -> PathBuf {
        let hex = digest.hex();
        let (head, tail) = hex.split_at(2);
        self.root.join(bucket).join(head).join(format!("{tail}{suffix}"))
    }

    /// The entries of a bucket that lie where [`Layout::place`] puts them, sorted; and those that lie elsewhere.
    pub(crate) fn digests(&self, bucket: &str, suffix: &str) -> Result<(Vec<Digest>, Vec<PathBuf>), StoreError> {
        let root = self.root.join(bucket);
        let (mut digests, mut strays) = (Vec::new(), Vec::new());
        for head in list(&root)? {
            if !head.is_dir() {
                strays.push(head);
                continue;
            }
            for path in list(&head)? {
                match digest_at(&head, &path, suffix) {
                    Some(digest) => digests.push(digest),
                    None => strays.push(path),
                }
            }
        }
        digests.sort_unstable();
        strays.sort_unstable();
        Ok((digests, strays))
    }
}

/// One line of JSON.
fn json(operation: &'static str, path: &Path, value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec(value).map_err(|error| StoreError::malformed(operation, path, error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn digest_at(head: &Path, path: &Path, suffix: &str) -> Option<Digest> {
    let head = head.file_name()?.to_str()?;
    let tail = path.file_name()?.to_str()?.strip_suffix(suffix)?;
    format!("{head}{tail}").parse().ok()
}

/// The bytes of a file; `None` when it is not there.
pub(crate) fn read_if_there(operation: &'static str, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(operation, path, error)),
    }
}

/// Removes a file; not an error when it is not there.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The paths in a directory, sorted; none when it is not there.
pub(crate) fn list(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", dir, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| StoreError::io("list", dir, error))?.path());
    }
    paths.sort_unstable();
    Ok(paths)
}
