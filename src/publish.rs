//! What a run leaves in the user's folders: the report files, brought up to date only where their content changed.

use std::io::Write;
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
    }
    Ok(Published { path: path.to_path_buf(), changed })
}

/// Writes a file of the user's through a temporary name beside it, and only if its content changes. Returns whether.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    if std::fs::read(path).is_ok_and(|old| Digest::of(&old) == Digest::of(bytes)) {
        return Ok(false);
    }
    write(path, bytes)?;
    Ok(true)
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // A temporary file is private; a report is a file like any other.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
