//! The folder that an archive is unpacked into.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::Limits;
use crate::download::{FetchError, FetchErrorKind};

const BUFFER: usize = 1 << 16;
/// The longest path in bytes, and the most folders in it, that file systems and people cope with.
const LONGEST_PATH: usize = 1024;
const MOST_FOLDERS: usize = 64;

/// Takes entries one by one and refuses what must not be.
pub(super) struct Sink<'a> {
    archive: &'a Path,
    archive_bytes: u64,
    into: &'a Path,
    strip: bool,
    limits: &'a Limits,
    files: HashSet<PathBuf>,
    entries: u64,
    bytes: u64,
}

impl<'a> Sink<'a> {
    /// A sink whose folder is made.
    pub(super) fn new(archive: &'a Path, into: &'a Path, strip: bool, limits: &'a Limits) -> Result<Self, FetchError> {
        let found = std::fs::metadata(archive).map_err(|error| FetchError::io("read", archive, error))?;
        std::fs::create_dir_all(into).map_err(|error| FetchError::io("make the folder", into, error))?;
        let (files, archive_bytes) = (HashSet::new(), found.len());
        Ok(Sink { archive, archive_bytes, into, strip, limits, files, entries: 0, bytes: 0 })
    }

    /// Makes the folder of an entry.
    pub(super) fn folder(&mut self, name: &[u8]) -> Result<(), FetchError> {
        self.count()?;
        match self.path(name)? {
            Some(path) => self.make_folder(&path),
            None => Ok(()),
        }
    }

    /// Writes the file of an entry.
    pub(super) fn file(&mut self, name: &[u8], content: &mut dyn Read) -> Result<(), FetchError> {
        self.count()?;
        let shown = String::from_utf8_lossy(name).into_owned();
        let Some(path) = self.path(name)? else {
            return Err(self.fault(format!("its entry {shown:?} is a file where its one folder is expected")));
        };
        if !self.files.insert(path.clone()) {
            return Err(self.fault(format!("its entry {shown:?} stands in it twice")));
        }
        if let Some(parent) = path.parent() {
            self.make_folder(parent)?;
        }
        let io = |error| FetchError::io("write", &path, error);
        let mut file = File::create(&path).map_err(io)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let read = content.read(&mut buffer).map_err(|error| self.damaged(&shown, &error))?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            self.grow(read as u64)?;
            file.write_all(bytes).map_err(io)?;
        }
        file.sync_all().map_err(io)
    }

    /// Refuses an entry that is neither file nor folder.
    pub(super) fn refuse(&self, name: &[u8], what: &str) -> FetchError {
        self.fault(format!("its entry {:?} is {what}; only files and folders are taken", String::from_utf8_lossy(name)))
    }

    /// The archive cannot be read on.
    pub(super) fn damaged(&self, entry: &str, why: &dyn std::fmt::Display) -> FetchError {
        self.fault(if entry.is_empty() {
            format!("it is damaged: {why}")
        } else {
            format!("it is damaged at its entry {entry:?}: {why}")
        })
    }

    pub(super) fn fault(&self, why: String) -> FetchError {
        FetchError {
            operation: "unpack",
            place: self.archive.display().to_string(),
            kind: FetchErrorKind::Malformed(why),
        }
    }

    fn make_folder(&self, path: &Path) -> Result<(), FetchError> {
        std::fs::create_dir_all(path).map_err(|error| FetchError::io("make the folder", path, error))
    }

    /// The path of an entry below the folder; `None` for the folder that is left away.
    fn path(&self, name: &[u8]) -> Result<Option<PathBuf>, FetchError> {
        let refused = |why: &str| self.fault(format!("its entry {:?} {why}", String::from_utf8_lossy(name)));
        let name = std::str::from_utf8(name).map_err(|_| refused("has a name that is not UTF-8"))?;
        if name.len() > LONGEST_PATH {
            return Err(refused("has too long a name"));
        }
        // A backslash or a drive separates folders on other systems; no dataset has one in a name.
        if name.starts_with('/') || name.contains(['\\', '\0']) || name.get(1..2) == Some(":") {
            return Err(refused("has no relative path"));
        }
        let mut segments: Vec<&str> =
            name.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
        if segments.contains(&"..") {
            return Err(refused("leaves the folder"));
        }
        if segments.len() > MOST_FOLDERS {
            return Err(refused("is in too many folders"));
        }
        if self.strip && !segments.is_empty() {
            segments.remove(0);
        }
        Ok((!segments.is_empty()).then(|| self.into.join(segments.join("/"))))
    }

    fn count(&mut self) -> Result<(), FetchError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.fault(format!("it has more than {} entries", self.limits.entries)));
        }
        Ok(())
    }

    fn grow(&mut self, bytes: u64) -> Result<(), FetchError> {
        self.bytes += bytes;
        if self.bytes > self.limits.bytes {
            return Err(self.fault(format!("it holds more than {} bytes", self.limits.bytes)));
        }
        let most = self.archive_bytes.saturating_mul(self.limits.ratio).max(self.limits.free_bytes);
        if self.bytes > most {
            return Err(self.fault(format!(
                "its {} bytes hold more than {} times as many, as no dataset does",
                self.archive_bytes, self.limits.ratio
            )));
        }
        Ok(())
    }
}
