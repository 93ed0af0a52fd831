//! Files and folders on the way to their place.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::fetch_error::{FetchError, FetchErrorKind};
use super::notice::Notice;

const BUFFER: usize = 1 << 16;

/// Held until dropped; an advisory lock, free at once when its process dies.
///
/// # Errors
/// When the lock's file cannot be made.
pub(crate) fn lock(path: &Path, notice: &dyn Fn(Notice<'_>)) -> Result<File, FetchError> {
    let failed = |error| FetchError::io("lock", path, error);
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
        notice(Notice::Waiting);
    }
    file.lock().map_err(failed)?;
    Ok(file)
}

/// The SHA-256 of a file in hexadecimal digits; `None` where there is none.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn sha256(path: &Path) -> Result<Option<String>, FetchError> {
    let read = |mut file: File| -> std::io::Result<String> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; BUFFER];
        loop {
            let read = file.read(&mut buffer)?;
            match buffer.get(..read).filter(|bytes| !bytes.is_empty()) {
                Some(bytes) => hasher.update(bytes),
                None => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            }
        }
    };
    match File::open(path).and_then(read) {
        Ok(sum) => Ok(Some(sum)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FetchError::io("read", path, error)),
    }
}

/// Copies a file of this machine.
///
/// # Errors
/// When it is not there or one of both cannot be used.
pub(crate) fn copy(from: &Path, to: &Path, notice: &dyn Fn(Notice<'_>)) -> Result<(), FetchError> {
    let mut source = File::open(from).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            FetchError { operation: "copy", place: from.display().to_string(), kind: FetchErrorKind::NotThere }
        }
        _ => FetchError::io("copy", from, error),
    })?;
    notice(Notice::Receiving { have: 0, size: source.metadata().ok().map(|found| found.len()) });
    let io = |error| FetchError::io("write", to, error);
    let mut file = File::create(to).map_err(io)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = source.read(&mut buffer).map_err(|error| FetchError::io("read", from, error))?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        file.write_all(bytes).map_err(io)?;
        notice(Notice::Bytes(read as u64));
    }
    file.sync_all().map_err(io)
}

/// Makes the folder `staging` the folder `target`, in the place of an older one.
///
/// # Errors
/// When a folder cannot be renamed or deleted.
pub(crate) fn replace_folder(staging: &Path, target: &Path) -> Result<(), FetchError> {
    let old = with_suffix(staging, ".old");
    remove_folder(&old)?;
    match std::fs::rename(target, &old) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(FetchError::io("replace", target, error));
        }
        _ => {}
    }
    std::fs::rename(staging, target).map_err(|error| FetchError::io("rename", staging, error))?;
    remove_folder(&old)
}

/// Deletes a folder that may be there.
///
/// # Errors
/// When it is there and stays.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), FetchError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FetchError::io("delete", folder, error)),
        _ => Ok(()),
    }
}

/// Deletes a file that may be there.
///
/// # Errors
/// When it is there and stays.
pub(crate) fn remove_file(path: &Path) -> Result<(), FetchError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FetchError::io("delete", path, error)),
        _ => Ok(()),
    }
}

/// Whether a file of some length is anywhere below `folder`, versions aside.
pub(crate) fn holds_bytes(folder: &Path) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        let is_version = path.extension().is_some_and(|extension| extension == "version");
        match entry.metadata() {
            Ok(found) if found.is_dir() => holds_bytes(&path),
            Ok(found) => found.len() > 0 && !is_version,
            Err(_) => false,
        }
    })
}

/// `path` with more at its end, whatever stands there.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}
