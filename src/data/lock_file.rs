//! The lock file: what was downloaded, so that a later download of something else is seen.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::download::{FetchError, lock};
use crate::publish::write_if_changed;

/// The name of the lock file. It stands beside the folders of the datasets, and is worth a commit.
pub const LOCK_FILE: &str = "ragstage-data.lock";
/// Names the layout.
const FORMAT: &str = "ragstage.data.lock.v1";

/// What was downloaded into the folders beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    format: String,
    /// The files, by dataset and URL.
    pub files: Vec<LockedFile>,
}

/// A file that was downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedFile {
    /// The dataset that it belongs to.
    pub dataset: String,
    /// Where its publisher keeps it, wherever it was taken from.
    pub url: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// When it was first downloaded (RFC 3339, UTC).
    pub date: String,
}

impl LockFile {
    /// The lock file in `folder`; an empty one where there is none.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn read(folder: &Path) -> Result<Self, FetchError> {
        let path = folder.join(LOCK_FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(LockFile { format: FORMAT.to_string(), files: Vec::new() });
            }
            Err(error) => return Err(FetchError::io("read", &path, error)),
        };
        let read: LockFile =
            serde_json::from_str(&text).map_err(|error| FetchError::malformed("read", &path, error.to_string()))?;
        if read.format != FORMAT {
            let why = format!("expected the format {FORMAT:?}, found {:?}", read.format);
            return Err(FetchError::malformed("read", &path, why));
        }
        Ok(read)
    }

    /// The file of a dataset that was downloaded from `url`.
    pub fn find(&self, dataset: &str, url: &str) -> Option<&LockedFile> {
        self.files.iter().find(|file| file.dataset == dataset && file.url == url)
    }

    /// Records `files` in the lock file of `folder`, beside what other processes record there at the same time. What is
    /// recorded already keeps its date.
    ///
    /// # Errors
    /// As [`LockFile::read`], and when it cannot be written.
    pub(super) fn record(folder: &Path, files: &[LockedFile]) -> Result<(), FetchError> {
        let path = folder.join(LOCK_FILE);
        let _guard = lock(&guard(folder), &|_| {})?;
        let mut locked = LockFile::read(folder)?;
        for file in files {
            match locked.files.iter_mut().find(|old| old.dataset == file.dataset && old.url == file.url) {
                Some(old) if old.sha256 == file.sha256 => {}
                Some(old) => *old = file.clone(),
                None => locked.files.push(file.clone()),
            }
        }
        locked.files.sort_by(|a, b| (&a.dataset, &a.url).cmp(&(&b.dataset, &b.url)));
        let text = serde_json::to_string_pretty(&locked)
            .map_err(|error| FetchError::malformed("write", &path, error.to_string()))?;
        write_if_changed(&path, format!("{text}\n").as_bytes())
            .map_err(|error| FetchError::io("write", &path, error))?;
        Ok(())
    }
}

fn guard(folder: &Path) -> PathBuf {
    folder.join(".ragstage-data.guard")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dataset: &str, url: &str, sha256: &str, date: &str) -> LockedFile {
        let [dataset, url, sha256, date] = [dataset, url, sha256, date].map(str::to_string);
        LockedFile { dataset, url, sha256, bytes: 1, date }
    }

    #[test]
    fn files_are_sorted_and_keep_their_date() {
        let folder = tempfile::tempdir().expect("a folder");
        let record = |files: &[LockedFile]| LockFile::record(folder.path(), files).expect("recorded");
        record(&[file("b", "u", "1", "monday"), file("a", "v", "1", "monday")]);
        record(&[file("a", "u", "1", "tuesday"), file("a", "v", "1", "tuesday"), file("b", "u", "2", "tuesday")]);
        let read = LockFile::read(folder.path()).expect("read");
        assert_eq!(
            read.files,
            [file("a", "u", "1", "tuesday"), file("a", "v", "1", "monday"), file("b", "u", "2", "tuesday")]
        );
        assert_eq!(read.find("a", "v").map(|file| file.date.as_str()), Some("monday"));
    }

    #[test]
    fn whoever_records_at_the_same_time_is_recorded() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for dataset in ["a", "b", "c", "d"] {
                let folder = folder.path();
                scope.spawn(move || {
                    for url in ["1", "2", "3", "4", "5"] {
                        LockFile::record(folder, &[file(dataset, url, "s", "monday")]).expect("recorded");
                    }
                });
            }
        });
        assert_eq!(LockFile::read(folder.path()).expect("read").files.len(), 20);
    }

    #[test]
    fn what_is_no_lock_file_says_where() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = |text: &str| {
            std::fs::write(folder.path().join(LOCK_FILE), text).expect("write");
            LockFile::read(folder.path()).expect_err("refused").to_string()
        };
        assert!(error("{\n\"format\": 3").contains("line 2 column 11"), "{}", error("{\n\"format\": 3"));
        assert!(error(r#"{"format": "other", "files": []}"#).contains("expected the format \"ragstage.data.lock.v1\""));
    }
}
