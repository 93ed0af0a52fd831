//! The store: one directory that holds everything which need not be computed again.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::action::ActionCache;
use crate::cas::Cas;
use crate::incident::{Incident, Incidents};
use crate::layout::{Access, Layout};
use crate::lock::Locks;
use crate::memo::SourceMemo;
use crate::rows::RowCache;
use crate::runs::Runs;
use crate::salt::Salts;
use crate::scratch::Scratch;
use crate::{StoreError, StoreErrorKind, action, atomic, cas, rows};

/// The version of the tree that this program makes and reads.
pub const STORE_VERSION: u32 = 1;

const VERSION_FILE: &str = "version";
const TAG_FILE: &str = "CACHEDIR.TAG";
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
# This file is a cache directory tag created by ragstage.\n\
# For information about cache directory tags, see https://bford.info/cachedir/\n";

pub(crate) const BUCKETS: [&str; 8] =
    [cas::BUCKET, action::BUCKET, rows::BUCKET, "runs", "salts-v1", "tmp", "locks", "quarantine"];

/// An open store. Shared by reference between threads; any number of processes may have one store open.
///
/// ```text
/// .ragstage/
///   CACHEDIR.TAG                   tells backup programs that this can be made again
///   version                        "ragstage-store 1"
///   cas-v1/ab/cdef…                blobs by the blake3 of their bytes
///   actions-v1/ab/cdef….json       finished actions by key, see action::ActionRecord
///   actions-v1/ab/cdef….manifest.json   the readable preimage of that key
///   rows-v1/ab/cdef…/slot.json     what the slot's rows have in common
///   rows-v1/ab/cdef…/journal-…     rows that are not yet in a segment, one file per writer, see journal
///   rows-v1/ab/cdef…/segment-….parquet  rows, named by the blake3 of the file
///   runs/<run id>/                 run records: run.json, roots.json and what the run wrote
///   salts-v1/….json                how often steps were forced, by evaluation
///   memo-v1.json                   digests of source files by stat
///   tmp/<pid>-<random>/            files being written, one directory per process
///   locks/                         advisory locks, there while they are held
///   quarantine/                    damaged files, kept for inspection
/// ```
///
/// Everything is written to `tmp/`, flushed and renamed, except journals, which are appended to and carry checksums. The
/// order of commits is blob, manifest, action, run record, so no record refers to nothing. Everything but the run records
/// and the salts can be deleted at any time at the cost of computing it again.
#[derive(Debug)]
pub struct Store {
    pub(crate) layout: Arc<Layout>,
    cas: Cas,
    actions: ActionCache,
    rows: RowCache,
    memo: SourceMemo,
    locks: Locks,
    runs: Runs,
    salts: Salts,
}

impl Store {
    /// Opens the store at `root`, making it if it is not there. Temporary files of dead processes are removed.
    ///
    /// A store that exists and cannot be written to is opened for reading.
    ///
    /// # Errors
    /// [`StoreErrorKind::Newer`] when a newer version made it, [`StoreErrorKind::Malformed`] when the version file is
    /// something else, and the causes of the file system when it cannot be made.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let exists = check_version(root)?;
        let access = match Self::prepare(root) {
            Ok(scratch) => Access::Writable(scratch),
            Err(error) => match error.kind {
                StoreErrorKind::ReadOnly if exists => Access::ReadOnly,
                StoreErrorKind::Full if exists => Access::Full,
                _ => return Err(error),
            },
        };
        let layout = Arc::new(Layout { root: root.to_path_buf(), access, incidents: Incidents::default() });
        Ok(Store {
            cas: Cas::new(layout.clone()),
            actions: ActionCache::new(layout.clone()),
            rows: RowCache::new(layout.clone()),
            memo: SourceMemo::new(layout.clone()),
            locks: Locks::new(layout.clone()),
            runs: Runs::new(layout.clone()),
            salts: Salts::new(layout.clone()),
            layout,
        })
    }

    /// Makes what is missing of the tree, and this process's scratch directory.
    fn prepare(root: &Path) -> Result<Scratch, StoreError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| StoreError::io("open store", &path, error)
        };
        for bucket in BUCKETS {
            let dir = root.join(bucket);
            atomic::make_dir(&dir).map_err(failed(&dir))?;
        }
        let tmp = root.join("tmp");
        let scratch = Scratch::open(&tmp).map_err(failed(&tmp))?;
        // The version comes last: a tree with a version file is complete.
        for (name, content) in
            [(TAG_FILE, TAG.to_string()), (VERSION_FILE, format!("{VERSION_WORD} {STORE_VERSION}\n"))]
        {
            let path = root.join(name);
            if !path.exists() {
                atomic::write(scratch.path(), &path, content.as_bytes())?;
            }
        }
        Ok(scratch)
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// Whether this process may write to the store. It may not when the file system is read-only or full.
    pub fn writable(&self) -> bool {
        self.layout.writable()
    }

    /// Says why this process may not write to the store, where it may not.
    ///
    /// # Errors
    /// [`StoreErrorKind::ReadOnly`] or [`StoreErrorKind::Full`]; `operation` is what was about to be done.
    pub fn require_writable(&self, operation: &'static str) -> Result<(), StoreError> {
        self.layout.scratch(operation, self.root()).map(drop)
    }

    /// The blobs.
    pub fn cas(&self) -> &Cas {
        &self.cas
    }

    /// The finished actions.
    pub fn actions(&self) -> &ActionCache {
        &self.actions
    }

    /// The row caches.
    pub fn rows(&self) -> &RowCache {
        &self.rows
    }

    /// The digests of source files.
    pub fn memo(&self) -> &SourceMemo {
        &self.memo
    }

    /// The locks of actions.
    pub fn locks(&self) -> &Locks {
        &self.locks
    }

    /// The run records.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// The salts of forced steps.
    pub fn salts(&self) -> &Salts {
        &self.salts
    }

    /// The damage found and survived so far, oldest first.
    pub fn incidents(&self) -> Vec<Incident> {
        self.layout.incidents.all()
    }

    /// The same, forgotten here: for a reporter that tells each incident once.
    pub fn take_incidents(&self) -> Vec<Incident> {
        self.layout.incidents.take()
    }
}

const VERSION_WORD: &str = "ragstage-store";

/// Whether there is a store at `root`, of a version that this program reads.
fn check_version(root: &Path) -> Result<bool, StoreError> {
    let path = root.join(VERSION_FILE);
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            refuse_foreign(root)?;
            return Ok(false);
        }
        Err(error) => return Err(StoreError::io("open store", &path, error)),
    };
    let version = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| text.trim_end().strip_prefix(VERSION_WORD)?.trim_start().parse::<u32>().ok())
        .filter(|version| *version > 0);
    match version {
        Some(found) if found > STORE_VERSION => {
            let kind = StoreErrorKind::Newer { found, known: STORE_VERSION };
            Err(StoreError { operation: "open store", place: path, kind })
        }
        Some(_) => Ok(true),
        None => Err(StoreError::malformed("open store", &path, format!("expected `{VERSION_WORD} {STORE_VERSION}`"))),
    }
}

/// A folder with somebody's files in it is no place to spread a store in. One that was being made when its process died is.
fn refuse_foreign(root: &Path) -> Result<(), StoreError> {
    let Ok(entries) = fs::read_dir(root) else { return Ok(()) };
    // A mount point of its own has a folder of the file system's.
    let ours = |name: &OsStr| BUCKETS.iter().chain(&[TAG_FILE, "lost+found"]).any(|known| name == OsStr::new(known));
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !ours(&name) {
            let why = format!("is no store, and holds {}", name.to_string_lossy());
            return Err(StoreError::malformed("open store", root, why));
        }
    }
    Ok(())
}
