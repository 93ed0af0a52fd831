//! One owner at a time for a key, among threads and processes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::layout::Layout;
use crate::{Digest, StoreError};

/// Between two looks at a lock that may be given up.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Advisory locks: `locks/<key>`, held by an open file, so that a dead owner's lock is free at once.
#[derive(Debug)]
pub struct Locks {
    layout: Arc<Layout>,
}

/// The ownership of one key; given back on drop.
#[derive(Debug)]
pub struct LockGuard {
    path: PathBuf,
    _file: File,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Unlinked while still locked: whoever waits for this inode sees that its path is gone and tries again. When it
        // cannot be unlinked it stays as an unlocked file, which is as good.
        let _ = fs::remove_file(&self.path);
    }
}

impl Locks {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Locks { layout }
    }

    /// Takes the lock of `key`; when another holds it, calls `waiting` once and then blocks until it is free.
    ///
    /// # Errors
    /// When the lock file cannot be made or locked, as in a store that cannot be written to.
    pub fn acquire(&self, key: &Digest, waiting: &mut dyn FnMut()) -> Result<LockGuard, StoreError> {
        let path = self.path(key)?;
        let failed = |error| StoreError::io("lock", &path, error);
        let mut told = false;
        loop {
            let file = open(&path).map_err(failed)?;
            if !try_lock(&file).map_err(failed)? {
                if !told {
                    waiting();
                    told = true;
                }
                wait(&file).map_err(failed)?;
            }
            if is_at(&file, &path).map_err(failed)? {
                return Ok(LockGuard { path, _file: file });
            }
        }
    }

    /// Takes the lock of `key`; while another holds it, asks `go_on` every few milliseconds. `None` when that says no.
    ///
    /// # Errors
    /// As [`Locks::acquire`].
    pub fn acquire_while(
        &self,
        key: &Digest,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<LockGuard>, StoreError> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(guard) = self.try_acquire(key)? {
                return Ok(Some(guard));
            }
            if !go_on() {
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Takes the lock of `key` if it is free; `None` when another holds it.
    ///
    /// # Errors
    /// As [`Locks::acquire`].
    pub fn try_acquire(&self, key: &Digest) -> Result<Option<LockGuard>, StoreError> {
        let path = self.path(key)?;
        let failed = |error| StoreError::io("lock", &path, error);
        loop {
            let file = open(&path).map_err(failed)?;
            if !try_lock(&file).map_err(failed)? {
                return Ok(None);
            }
            if is_at(&file, &path).map_err(failed)? {
                return Ok(Some(LockGuard { path, _file: file }));
            }
        }
    }

    fn path(&self, key: &Digest) -> Result<PathBuf, StoreError> {
        let path = self.layout.root.join("locks").join(key.hex());
        self.layout.scratch("lock", &path)?;
        Ok(path)
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).open(path)
}

/// Whether the lock could be taken at once.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Blocks until the lock is taken.
pub(crate) fn wait(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            // A signal that only sets a flag; the owner is still at work.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Whether `path` still names the open `file`, not a later one nor nothing.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok(open.ino() == named.ino() && open.dev() == named.dev()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
