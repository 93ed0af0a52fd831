//! Files that appear whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::StoreError;

/// Writes `bytes` to `path` so that a reader, or a machine that lost power, sees the old file or the new one.
///
/// The bytes go to a fresh file in `tmp_dir` (same file system as `path`), are flushed to the device, renamed over
/// `path`, and the directory is flushed. Missing parent directories are made.
///
/// # Errors
/// [`crate::StoreErrorKind::Full`] or [`crate::StoreErrorKind::ReadOnly`] where that is the cause; the temporary file is
/// gone in every case.
pub fn write(tmp_dir: &Path, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let written = place(tmp_dir, path, bytes).and_then(|()| sync_dir(path.parent().unwrap_or(Path::new("."))));
    written.map_err(|error| StoreError::io("write", path, error))
}

/// The same without flushing the directory: for a file that another one is written beside, whose flush does for both.
pub(crate) fn place(tmp_dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Not tempfile's private mode: a store may be shared by a group, as the umask says.
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(tmp_dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    make_dir(path.parent().unwrap_or(Path::new(".")))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a directory and its missing parents, durably.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(Path::new("."));
    if !parent.as_os_str().is_empty() {
        make_dir(parent)?;
    }
    match fs::create_dir(dir) {
        Ok(()) => sync_dir(parent),
        // Another thread or process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Flushes the entries of a directory.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("tempdir");
        let tmp = dir.path().join("tmp");
        fs::create_dir(&tmp).expect("tmp");
        let path = dir.path().join("a/b/file");
        write(&tmp, &path, b"one").expect("write");
        write(&tmp, &path, b"two").expect("write");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert_eq!(fs::read_dir(&tmp).expect("tmp").count(), 0);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temporary() {
        let dir = tempfile::tempdir().expect("tempdir");
        let tmp = dir.path().join("tmp");
        fs::create_dir(&tmp).expect("tmp");
        // The target is a directory that is not empty: the rename fails.
        let path = dir.path().join("taken");
        fs::create_dir_all(path.join("inside")).expect("dir");
        assert!(write(&tmp, &path, b"x").is_err());
        assert!(path.join("inside").is_dir());
        assert_eq!(fs::read_dir(&tmp).expect("tmp").count(), 0);
    }
}
