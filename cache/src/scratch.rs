//! The temporary directory of one process in the store.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::lock::wait;

/// `tmp/<pid>-<random>/`, alive while its `lock` file is locked; removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
    _alive: File,
}

impl Scratch {
    /// Makes this process's directory below `tmp` and removes those of dead processes.
    pub(crate) fn open(tmp: &Path) -> io::Result<Self> {
        let _gate = gate(tmp)?;
        let dir = tempfile::Builder::new().prefix(&format!("{}-", std::process::id())).tempdir_in(tmp)?;
        let alive = open_lock(&dir.path().join("lock"))?;
        alive.lock()?;
        for other in others(tmp, dir.path())? {
            if owner_is_dead(&other) {
                // What cannot be removed today is tried again by the next process.
                let _ = fs::remove_dir_all(&other);
            }
        }
        Ok(Scratch { dir, _alive: alive })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Keeps new processes out of the store while the result lives; `None` when another process is in it.
    pub(crate) fn alone(&self) -> io::Result<Option<File>> {
        let tmp = self.path().parent().unwrap_or(self.path());
        let gate = gate(tmp)?;
        let alone = others(tmp, self.path())?.iter().all(|other| owner_is_dead(other));
        Ok(alone.then_some(gate))
    }
}

/// Held between the making of a directory and the locking of its lock, lest a sweep takes it for a dead one.
fn gate(tmp: &Path) -> io::Result<File> {
    let gate = open_lock(&tmp.join("gate"))?;
    wait(&gate)?;
    Ok(gate)
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).open(path)
}

fn others(tmp: &Path, own: &Path) -> io::Result<Vec<PathBuf>> {
    let mut dirs = Vec::new();
    for entry in fs::read_dir(tmp)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.path() != own {
            dirs.push(entry.path());
        }
    }
    Ok(dirs)
}

fn owner_is_dead(dir: &Path) -> bool {
    match File::open(dir.join("lock")) {
        Ok(lock) => !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
