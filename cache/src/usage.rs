//! How much space a store takes.

use std::fs;
use std::io;
use std::path::Path;

use crate::store::BUCKETS;
use crate::{Store, StoreError};

/// The files of one part of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketUsage {
    /// The directory's name, e.g. `cas-v1`; `.` for the files beside the directories.
    pub name: &'static str,
    /// How many files it holds.
    pub files: u64,
    /// The sum of their lengths in bytes.
    pub bytes: u64,
}

/// The space that a store takes, by bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Every bucket, also the empty ones, in a fixed order.
    pub buckets: Vec<BucketUsage>,
}

impl Usage {
    /// The number of all files.
    pub fn files(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.files).sum()
    }

    /// The length of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.bytes).sum()
    }
}

impl Store {
    /// Counts the files of each bucket and their bytes. Files that vanish meanwhile are not counted.
    ///
    /// # Errors
    /// When a directory cannot be listed.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        let mut beside = BucketUsage { name: ".", files: 0, bytes: 0 };
        count(self.root(), 0, &mut beside)?;
        let mut buckets = vec![beside];
        for name in BUCKETS {
            let mut bucket = BucketUsage { name, files: 0, bytes: 0 };
            count(&self.root().join(name), usize::MAX, &mut bucket)?;
            buckets.push(bucket);
        }
        Ok(Usage { buckets })
    }
}

/// Adds the files in `dir`, and in its directories down to `depth`, to `usage`.
fn count(dir: &Path, depth: usize, usage: &mut BucketUsage) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("measure", dir, error);
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(failed)?,
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // Of the entry itself: a symbolic link is a file of its own and leads nowhere.
        match entry.metadata() {
            Ok(found) if found.is_dir() => {
                if depth > 0 {
                    count(&entry.path(), depth - 1, usage)?;
                }
            }
            Ok(found) => {
                usage.files += 1;
                usage.bytes += found.len();
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("measure", &entry.path(), error)),
        }
    }
    Ok(())
}
