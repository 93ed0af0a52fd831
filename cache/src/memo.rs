//! The digests of source files that were hashed before.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, read_if_there};
use crate::{Digest, StoreError};

pub(crate) const FILE: &str = "memo-v1.json";

/// A file that was changed this shortly before it was hashed may be changed again without a new ctime.
const RACY_NS: i128 = 50_000_000;

/// Above this many entries, those that this process did not use are forgotten.
const KEEP_ENTRIES: usize = 65_536;

/// The digest and the size of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDigest {
    /// The blake3 of the content.
    pub digest: Digest,
    /// The content's length in bytes.
    pub size: u64,
}

/// What the file system says about a file; equal when its content was not written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
    device: u64,
    inode: u64,
}

impl Stat {
    fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Stat {
            size: metadata.len(),
            mtime_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// When the file last changed as far as its times tell. An mtime can be set to any past time; a ctime cannot.
    fn changed_ns(&self) -> i64 {
        self.mtime_ns.max(self.ctime_ns)
    }
}

/// What a reader would wait for without end (a pipe, a device) is no source file.
fn require_regular(metadata: &Metadata) -> Result<(), io::Error> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

#[derive(Debug, Default)]
struct Entries {
    /// By absolute path; the flag says whether this process asked for it.
    by_path: BTreeMap<String, (Stat, Digest, bool)>,
    loaded: bool,
    changed: bool,
}

#[derive(Serialize, Deserialize)]
struct MemoFile {
    format: u32,
    /// Path, stat, digest.
    files: Vec<(String, Stat, Digest)>,
}

/// Remembers digests of source files by (absolute path, size, mtime, ctime, device, inode), so that a warm run only stats them.
///
/// It lives in `memo-v1.json` and is only a memory: without it everything is hashed again.
#[derive(Debug)]
pub struct SourceMemo {
    layout: Arc<Layout>,
    entries: Mutex<Entries>,
    hashed: AtomicU64,
}

impl SourceMemo {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        SourceMemo { layout, entries: Mutex::default(), hashed: AtomicU64::new(0) }
    }

    /// The digest of the file's content.
    ///
    /// # Errors
    /// When it cannot be read, or is no regular file once links are followed.
    pub fn digest(&self, path: &Path) -> Result<FileDigest, io::Error> {
        let metadata = fs::metadata(path)?;
        require_regular(&metadata)?;
        // A path that is no text is hashed each time: the memo is JSON.
        let name = std::path::absolute(path)?.to_str().map(str::to_string);
        let stat = Stat::of(&metadata);
        if let Some(name) = &name
            && let Some((known, digest, used)) = self.lock().by_path.get_mut(name)
            && *known == stat
        {
            *used = true;
            return Ok(FileDigest { digest: *digest, size: stat.size });
        }
        let began_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        let mut file = File::open(path)?;
        let before = Stat::of(&file.metadata()?);
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut file)?;
        let digest = Digest(*hasher.finalize().as_bytes());
        let after = Stat::of(&file.metadata()?);
        self.hashed.fetch_add(1, Ordering::Relaxed);
        let settled = before == after && began_ns - i128::from(after.changed_ns()) >= RACY_NS;
        if let (Some(name), true) = (name, settled) {
            let mut entries = self.lock();
            entries.by_path.insert(name, (after, digest, true));
            entries.changed = true;
        }
        Ok(FileDigest { digest, size: hasher.count() })
    }

    /// How many files this process really hashed.
    pub fn hashed(&self) -> u64 {
        self.hashed.load(Ordering::Relaxed)
    }

    /// Writes the memo if it changed. Of processes that end together the last one's memory stays. A store that cannot be
    /// written to keeps what it has.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<(), StoreError> {
        let mut entries = self.lock();
        if !entries.changed || !self.layout.writable() {
            return Ok(());
        }
        if entries.by_path.len() > KEEP_ENTRIES {
            entries.by_path.retain(|_, (_, _, used)| *used);
        }
        let files = entries.by_path.iter().map(|(path, (stat, digest, _))| (path.clone(), *stat, *digest)).collect();
        self.layout.write_json("write memo", &self.layout.root.join(FILE), &MemoFile { format: 1, files })?;
        entries.changed = false;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if !entries.loaded {
            entries.loaded = true;
            entries.by_path = self.load();
        }
        entries
    }

    fn load(&self) -> BTreeMap<String, (Stat, Digest, bool)> {
        let path = self.layout.root.join(FILE);
        let ignored = |found: String| {
            self.layout.incidents.record(&path, found, "ignored: source files are hashed again");
            BTreeMap::new()
        };
        let bytes = match read_if_there("read memo", &path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return BTreeMap::new(),
            Err(error) => return ignored(error.to_string()),
        };
        match serde_json::from_slice::<MemoFile>(&bytes) {
            Ok(memo) if memo.format == 1 => {
                memo.files.into_iter().map(|(path, stat, digest)| (path, (stat, digest, false))).collect()
            }
            Ok(memo) => ignored(format!("memo of format {}", memo.format)),
            Err(error) => ignored(format!("malformed memo: {error}")),
        }
    }
}
