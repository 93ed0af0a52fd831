//! What a run leaves in the user's folders: the report files, brought up to date only where their content changed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ragstage_cache::action::OutputRecord;
use ragstage_cache::{Digest, Store, StoreError};

/// The published files by the step and name of the artifact they are copies of.
pub const FILES: [(Source, &str, &str); 4] = [
    (Source::Report, "report.html", "report.html"),
    (Source::Report, "report.json", "report.json"),
    (Source::Report, "report.md", "report.md"),
    (Source::Aggregate, "score_table", "scores.parquet"),
];

/// The action whose artifact a file is a copy of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `report`.
    Report,
    /// `aggregate`.
    Aggregate,
}

/// A published file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The file.
    pub path: PathBuf,
    /// Whether its content changed.
    pub changed: bool,
}

/// A file could not be published.
#[derive(Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The artifact could not be read.
    Store(StoreError),
    /// The file could not be written.
    Write(PathBuf, std::io::Error),
}

/// Copies an artifact to `path`, unless `path` has its content already.
///
/// # Errors
/// When the artifact is lost, or the file cannot be written.
pub fn publish(store: &Store, artifact: &OutputRecord, path: &Path) -> Result<Published, PublishError> {
    let current = store.memo().digest(path).ok().map(|found| found.digest);
    let changed = current != Some(artifact.digest);
    if changed {
        let bytes = store.cas().get(&artifact.digest).map_err(PublishError::Store)?;
        write(path, &bytes).map_err(|error| PublishError::Write(path.to_path_buf(), error))?;
    } else {
        sweep(path);
    }
    Ok(Published { path: path.to_path_buf(), changed })
}

/// Writes a file of the user's through a temporary name beside it, and only if its content changes. Returns whether.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    if std::fs::read(path).is_ok_and(|old| Digest::of(&old) == Digest::of(bytes)) {
        sweep(path);
        return Ok(false);
    }
    write(path, bytes)?;
    Ok(true)
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes what `fill` puts into the file, through a temporary name beside `path` that is always the same, so that a process that
/// is killed meanwhile leaves at most that file, which the next one uses or removes. Whoever writes holds its lock. A pipe or
/// a terminal is written to as it is.
///
/// # Errors
/// When the folder or the file cannot be written, and those of `fill`; nothing half-written stays.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fill(&mut OpenOptions::new().write(true).open(path)?);
    }
    let temporary = temporary(path);
    std::fs::create_dir_all(folder(path))?;
    let mut file = loop {
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(&temporary)?;
        file.lock()?;
        // It may have been renamed by the process that had the lock before.
        if is_at(&file, &temporary)? {
            break file;
        }
    };
    let written = file.set_len(0).and_then(|()| fill(&mut file)).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if renamed.is_err() {
        // What is half-written must not stay, least of all on a full disk; the error that is told is the first one.
        let _ = std::fs::remove_file(&temporary);
    }
    renamed
}

/// Removes what a killed process left beside `path`.
fn sweep(path: &Path) {
    let temporary = temporary(path);
    let Ok(file) = OpenOptions::new().write(true).open(&temporary) else { return };
    if file.try_lock().is_ok() && is_at(&file, &temporary).unwrap_or(false) {
        // A folder that cannot be written to keeps it; it is in nobody's way.
        let _ = std::fs::remove_file(&temporary);
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder(path).join(format!(".{name}.ragstage"))
}

/// Whether `path` still names the open `file`.
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok(open.ino() == named.ino() && open.dev() == named.dev()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_writer_leaves_nothing_for_long() {
        let folder = tempfile::tempdir().expect("tempdir");
        let path = folder.path().join("reports/report.md");
        let names = || std::fs::read_dir(folder.path().join("reports")).expect("folder").count();
        assert!(write_if_changed(&path, b"one").expect("write"));
        std::fs::write(temporary(&path), b"half of tw").expect("left behind");
        assert!(write_if_changed(&path, b"two").expect("write"));
        assert_eq!((std::fs::read(&path).expect("read"), names()), (b"two".to_vec(), 1));
        std::fs::write(temporary(&path), b"half of three").expect("left behind");
        assert!(!write_if_changed(&path, b"two").expect("nothing to write"));
        assert_eq!(names(), 1);
    }

    #[test]
    fn what_cannot_be_filled_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().expect("tempdir");
        let path = folder.path().join("scores.jsonl");
        let fail = |file: &mut File| {
            file.write_all(b"half")?;
            Err(std::io::Error::other("no more"))
        };
        assert!(write_with(&path, fail).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
        std::fs::write(&path, b"whole").expect("write");
        assert!(write_with(&path, fail).is_err());
        assert_eq!(std::fs::read(&path).expect("read"), b"whole");
        // What is no file of the disk is not replaced by one.
        write_with(Path::new("/dev/null"), |file| file.write_all(b"gone")).expect("written");
        assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
    }

    #[test]
    fn writers_take_turns() {
        let folder = tempfile::tempdir().expect("tempdir");
        let path = folder.path().join("report.md");
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        write(path, &[writer; 10_000]).expect("write");
                        let read = std::fs::read(path).expect("read");
                        assert!(read.len() == 10_000 && read.iter().all(|byte| *byte == read[0]));
                    }
                });
            }
        });
    }
}
