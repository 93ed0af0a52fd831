//! Brings a dataset into its folder, whole or not at all.

use std::path::{Path, PathBuf};

use ureq::Agent;

use super::lock_file::{LOCK_FILE, LockFile, LockedFile};
use super::source::{Form, Pin, Source, SourceFile};
use super::unpack::{Limits, unpack};
use crate::clock::now;
use crate::download::{
    FetchError, FetchErrorKind, Notice, Transfer, agent, copy, holds_bytes, is_url, lock, remove_file, remove_folder,
    replace_folder, sha256, with_suffix,
};

/// Where a dataset's files are taken from instead of their publisher's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirror {
    /// A file or a folder on this machine.
    Path(PathBuf),
    /// A URL below which they are.
    Url(String),
}

/// What is to be downloaded.
#[derive(Debug)]
pub struct Request<'a> {
    /// The dataset.
    pub source: &'static Source,
    /// Its folder. The lock file stands beside it.
    pub to: &'a Path,
    /// Another place for its files.
    pub mirror: Option<Mirror>,
    /// Whether it is downloaded although it is there, and taken although it is not what was recorded.
    pub force: bool,
}

/// A dataset that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// Its folder.
    pub folder: PathBuf,
    /// The files that it was made of.
    pub files: Vec<LockedFile>,
    /// Whether it was there already.
    pub was_there: bool,
}

impl Mirror {
    /// What `--mirror` names: a URL or a path.
    pub fn of(text: &str) -> Self {
        if is_url(text) {
            Mirror::Url(text.trim_end_matches('/').to_string())
        } else {
            Mirror::Path(PathBuf::from(text))
        }
    }

    /// Where it has `file`, which it may itself be if a dataset has only that one.
    fn place(&self, file: &SourceFile, is_only: bool) -> String {
        match self {
            Mirror::Path(path) if is_only && !path.is_dir() => path.display().to_string(),
            Mirror::Path(path) => path.join(file.name).display().to_string(),
            Mirror::Url(url) if is_only && url.rsplit('/').next() == Some(file.name) => url.clone(),
            Mirror::Url(url) => format!("{url}/{}", file.name),
        }
    }
}

/// Brings a dataset into its folder. The folder appears, in the place of an older one, when everything in it is there. Each
/// file must be the pinned one, or else the one that the lock file recorded; what is recorded for the first time is whatever
/// the server has.
///
/// # Errors
/// When a file cannot be had or is another one, an archive is damaged or not to be trusted, or a folder of other origin is in
/// the way. What was downloaded until then is kept beside the folder, and the next call continues it.
pub fn download(request: &Request<'_>, notice: &dyn Fn(Notice<'_>)) -> Result<Downloaded, FetchError> {
    let Request { source, to, .. } = request;
    let Some(name) = to.file_name() else {
        return Err(FetchError::malformed("download to", to, "it is no path of a folder of its own"));
    };
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let hidden = |suffix: &str| {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        parent.join(with_suffix(Path::new(&hidden), suffix))
    };
    std::fs::create_dir_all(parent).map_err(|error| FetchError::io("make the folder", parent, error))?;
    let _lock = lock(&hidden(".lock"), notice)?;
    let staging = hidden(".part");
    let locked = LockFile::read(parent)?;
    let recorded: Vec<LockedFile> =
        source.files.iter().filter_map(|file| locked.find(source.name, file.url)).cloned().collect();
    let is_recorded = recorded.len() == source.files.len();
    if !request.force && exists(to)? {
        if !is_recorded {
            return Err(FetchError { operation: "download to", place: show(to), kind: FetchErrorKind::Occupied });
        }
        if !staging.exists() && missing(source, to).is_none() {
            return Ok(Downloaded { folder: to.to_path_buf(), files: recorded, was_there: true });
        }
    }
    let fetch = Fetch { request, parent, locked: &locked, downloads: staging.join("files"), notice };
    let files = fetch.all().inspect_err(|_| {
        if !holds_bytes(&staging) {
            // Nothing to continue; the next call makes it anew.
            let _ = remove_folder(&staging);
        }
    })?;
    let tree = staging.join("tree");
    fetch.build(&tree)?;
    // Before the folder: one that stands there is recorded. While `staging` is there it counts as unfinished.
    LockFile::record(parent, &files)?;
    replace_folder(&tree, to)?;
    remove_folder(&staging)?;
    Ok(Downloaded { folder: to.to_path_buf(), files, was_there: false })
}

/// Whether there is anything in the way: an empty folder is not.
fn exists(folder: &Path) -> Result<bool, FetchError> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FetchError::io("read the folder", folder, error)),
    }
}

/// The first path that must be in the dataset's folder and is not.
fn missing(source: &Source, folder: &Path) -> Option<&'static str> {
    source.expected.iter().copied().find(|path| match path.strip_suffix('/') {
        Some(path) => !folder.join(path).is_dir(),
        None => !folder.join(path).is_file(),
    })
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

struct Fetch<'a> {
    request: &'a Request<'a>,
    parent: &'a Path,
    locked: &'a LockFile,
    /// Where finished files wait for the others.
    downloads: PathBuf,
    notice: &'a dyn Fn(Notice<'_>),
}

impl Fetch<'_> {
    fn all(&self) -> Result<Vec<LockedFile>, FetchError> {
        let agent = agent();
        std::fs::create_dir_all(&self.downloads)
            .map_err(|error| FetchError::io("make the folder", &self.downloads, error))?;
        self.request.source.files.iter().map(|file| self.one(&agent, file)).collect()
    }

    /// Brings one file, unless an earlier call brought it.
    fn one(&self, agent: &Agent, file: &SourceFile) -> Result<LockedFile, FetchError> {
        let target = self.downloads.join(file.name);
        let place = match &self.request.mirror {
            Some(mirror) => mirror.place(file, self.request.source.files.len() == 1),
            None => file.url.to_string(),
        };
        if !target.is_file() {
            (self.notice)(Notice::File(file.name));
            let part = with_suffix(&target, ".part");
            let transfer = Transfer::new(&place, &part, file.pin.map(|pin| pin.bytes));
            match &self.request.mirror {
                Some(Mirror::Path(_)) => copy(Path::new(&place), &part, self.notice)?,
                _ => transfer.run(agent, self.notice)?,
            }
            std::fs::rename(&part, &target).map_err(|error| FetchError::io("rename", &part, error))?;
            transfer.forget()?;
        }
        match self.check(file, &target) {
            Ok(locked) => Ok(locked),
            Err(kind) => {
                remove_file(&target)?;
                Err(FetchError { operation: "take", place, kind })
            }
        }
    }

    /// What the file is, or why it is not taken.
    fn check(&self, file: &SourceFile, path: &Path) -> Result<LockedFile, FetchErrorKind> {
        let found = sha256(path).map_err(|error| error.kind)?.ok_or(FetchErrorKind::NotThere)?;
        let bytes = std::fs::metadata(path).map_err(FetchErrorKind::Io)?.len();
        let dataset = self.request.source.name;
        match (file.pin, self.locked.find(dataset, file.url)) {
            (Some(pin), _) => check_pin(pin, &found)?,
            (None, Some(recorded)) if recorded.sha256 != found && !self.request.force => {
                return Err(FetchErrorKind::Changed {
                    lock: show(&self.parent.join(LOCK_FILE)),
                    recorded: format!("SHA-256 {} of {}", recorded.sha256, recorded.date),
                    found: found.clone(),
                });
            }
            _ => {}
        }
        Ok(LockedFile { dataset: dataset.to_string(), url: file.url.to_string(), sha256: found, bytes, date: now() })
    }

    /// Makes the dataset's folder of the downloaded files.
    fn build(&self, tree: &Path) -> Result<(), FetchError> {
        let source = self.request.source;
        remove_folder(tree)?;
        std::fs::create_dir_all(tree).map_err(|error| FetchError::io("make the folder", tree, error))?;
        for file in source.files {
            let from = self.downloads.join(file.name);
            match &file.form {
                Form::File(path) => place(&from, &tree.join(path))?,
                Form::Archive { format, into, strip, members } => {
                    (self.notice)(Notice::Unpacking(file.name));
                    let unpacked = unpack(&from, *format, &tree.join(into), *strip, &Limits::DATASETS).and_then(|()| {
                        members.iter().try_for_each(|member| check_member(tree, member.path, member.pin))
                    });
                    if let Err(error) = unpacked {
                        // An archive that is of no use is not worth keeping.
                        remove_file(&from)?;
                        remove_folder(tree)?;
                        return Err(error);
                    }
                }
            }
        }
        match missing(source, tree) {
            Some(path) => {
                remove_folder(&self.downloads)?;
                remove_folder(tree)?;
                let why = format!("expected `{path}` in what was downloaded, found none");
                Err(FetchError::malformed("make", self.request.to, why))
            }
            None => Ok(()),
        }
    }
}

/// A file of the dataset stays with the downloads until the whole folder is in place.
fn place(from: &Path, to: &Path) -> Result<(), FetchError> {
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(|error| FetchError::io("make the folder", folder, error))?;
    match std::fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        // Not every file system has hard links.
        Err(_) => copy(from, to, &|_| {}),
    }
}

fn check_member(tree: &Path, path: &'static str, pin: Pin) -> Result<(), FetchError> {
    let fault = |kind| FetchError { operation: "take", place: path.to_string(), kind };
    let found = sha256(&tree.join(path))?.ok_or_else(|| fault(FetchErrorKind::NotThere))?;
    check_pin(pin, &found).map_err(fault)
}

fn check_pin(pin: Pin, found: &str) -> Result<(), FetchErrorKind> {
    if pin.sha256 == found {
        return Ok(());
    }
    Err(FetchErrorKind::Mismatch {
        expected: format!("the file with SHA-256 {}", pin.sha256),
        found: format!("one with {found}"),
    })
}
