//! Brings a model into the user's folder, whole or not at all.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::Agent;

use super::catalog::CatalogModel;
use super::download::Download;
use super::model_error::{ModelError, ModelErrorKind};
use super::model_home::ModelHome;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);
const BUFFER: usize = 1 << 16;

/// The files of a model that is not pinned, and whether there is no model without them.
const UNPINNED: [(&str, bool); 5] = [
    ("model.safetensors", true),
    ("tokenizer.json", true),
    ("config.json", false),
    ("1_Pooling/config.json", false),
    ("sentence_bert_config.json", false),
];

/// Where a model is brought from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// Where its publisher keeps it.
    Upstream,
    /// A folder on this machine.
    Folder(PathBuf),
    /// A URL below which its files are.
    Url(String),
}

impl ModelSource {
    /// What `--from` names: a URL or a folder.
    pub fn of(text: &str) -> Self {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http" | "https") => ModelSource::Url(text.trim_end_matches('/').to_string()),
            _ => ModelSource::Folder(PathBuf::from(text)),
        }
    }
}

/// What happens on the way.
#[derive(Debug)]
pub enum Notice<'a> {
    /// Another process brings the same model; it is waited for.
    Waiting,
    /// A file is begun.
    File(&'a str),
    /// Its bytes arrive; so many are there already.
    Receiving {
        /// Bytes that are there.
        have: u64,
        /// Bytes of the whole file, where known.
        size: Option<u64>,
    },
    /// So many more bytes arrived.
    Bytes(u64),
    /// An attempt failed; there will be another.
    Retrying {
        /// Why.
        why: &'a ModelError,
    },
}

/// A model that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Its folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<FetchedFile>,
    /// Whether it was there already.
    pub was_there: bool,
    /// Whether its files are the pinned ones.
    pub pinned: bool,
}

/// A file of a model that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Its path in the model's folder.
    pub name: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// A file that is wanted.
struct Wanted {
    name: &'static str,
    upstream: &'static str,
    pin: Option<(u64, &'static str)>,
    required: bool,
}

/// Brings model `name` (which [`super::check_name`] takes) into `home`. A pinned model's files are those of the catalog; of
/// another the files of the layouts that the embedders read are taken. The folder appears when all files are there.
///
/// # Errors
/// When the model is not known, a file is missing or another one than the pinned one, or the server cannot be used. What was
/// downloaded until then is kept beside the folder, and the next call continues it.
pub fn fetch(
    home: &ModelHome,
    name: &str,
    source: &ModelSource,
    notice: &dyn Fn(Notice<'_>),
) -> Result<Fetched, ModelError> {
    let known = CatalogModel::find(name);
    let wanted = wanted(known);
    let folder = home.folder(name);
    let origin = match (source, known) {
        (ModelSource::Folder(folder), _) => Origin::Folder(folder),
        (ModelSource::Url(base), _) => Origin::Url { base, is_publishers: false },
        (ModelSource::Upstream, Some(known)) => Origin::Url { base: known.upstream, is_publishers: true },
        (ModelSource::Upstream, None) => {
            let place = name.to_string();
            return Err(ModelError { operation: "get the model", place, kind: ModelErrorKind::Unknown });
        }
    };
    let fetch = Fetch { origin, staging: home.root().join(format!(".{name}.part")), notice };
    std::fs::create_dir_all(home.root()).map_err(|error| ModelError::io("make the folder", home.root(), error))?;
    let _lock = lock(&home.root().join(format!(".{name}.lock")), notice)?;
    if known.is_some()
        && let Some(files) = whole(&folder, &wanted)?
    {
        return Ok(Fetched { folder, files, was_there: true, pinned: true });
    }
    let files = fetch.all(&wanted).inspect_err(|_| fetch.tidy())?;
    fetch.move_to(&folder)?;
    Ok(Fetched { folder, files, was_there: false, pinned: known.is_some() })
}

fn wanted(known: Option<&CatalogModel>) -> Vec<Wanted> {
    match known {
        Some(known) => {
            let pinned = known.files.iter();
            pinned
                .map(|file| Wanted {
                    name: file.name,
                    upstream: file.upstream,
                    pin: Some((file.bytes, file.sha256)),
                    required: true,
                })
                .collect()
        }
        None => UNPINNED
            .iter()
            .map(|(name, required)| Wanted { name, upstream: name, pin: None, required: *required })
            .collect(),
    }
}

/// The files in `folder` if all are there and the pinned ones.
fn whole(folder: &Path, wanted: &[Wanted]) -> Result<Option<Vec<FetchedFile>>, ModelError> {
    let mut files = Vec::new();
    for file in wanted {
        match file.check(&folder.join(file.name))? {
            Ok(sha256) => files.push(FetchedFile { name: file.name.to_string(), sha256 }),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(files))
}

/// Held until dropped; an advisory lock, free at once when its process dies.
fn lock(path: &Path, notice: &dyn Fn(Notice<'_>)) -> Result<File, ModelError> {
    let failed = |error| ModelError::io("lock", path, error);
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
        notice(Notice::Waiting);
    }
    file.lock().map_err(failed)?;
    Ok(file)
}

impl Wanted {
    /// The SHA-256 of the file at `path`, or how it differs from the pin.
    fn check(&self, path: &Path) -> Result<Result<String, ModelErrorKind>, ModelError> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Err(ModelErrorKind::NotThere)),
            Err(error) => return Err(ModelError::io("read", path, error)),
        };
        let found = sha256(&mut file).map_err(|error| ModelError::io("read", path, error))?;
        Ok(match self.pin {
            Some((_, pinned)) if pinned != found => Err(ModelErrorKind::Mismatch {
                expected: format!("the file with SHA-256 {pinned}"),
                found: format!("one with {found}"),
            }),
            _ => Ok(found),
        })
    }
}

fn sha256(file: &mut File) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read).filter(|bytes| !bytes.is_empty()) {
            Some(bytes) => hasher.update(bytes),
            None => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

/// Where files are taken from.
enum Origin<'a> {
    Folder(&'a Path),
    /// A URL; files have their publisher's names there, or those that they have in the model's folder.
    Url {
        base: &'a str,
        is_publishers: bool,
    },
}

struct Fetch<'a> {
    origin: Origin<'a>,
    staging: PathBuf,
    notice: &'a dyn Fn(Notice<'_>),
}

impl Fetch<'_> {
    fn all(&self, wanted: &[Wanted]) -> Result<Vec<FetchedFile>, ModelError> {
        let agent = agent();
        let mut files = Vec::new();
        for file in wanted {
            if let Some(sha256) = self.one(&agent, file)? {
                files.push(FetchedFile { name: file.name.to_string(), sha256 });
            }
        }
        Ok(files)
    }

    /// Brings one file; its SHA-256, or `None` where it is not there and need not be.
    fn one(&self, agent: &Agent, file: &Wanted) -> Result<Option<String>, ModelError> {
        let target = self.staging.join(file.name);
        if file.pin.is_some()
            && let Ok(sha256) = file.check(&target)?
        {
            return Ok(Some(sha256));
        }
        (self.notice)(Notice::File(file.name));
        let folder = target.parent().unwrap_or(&self.staging);
        std::fs::create_dir_all(folder).map_err(|error| ModelError::io("make the folder", folder, error))?;
        let mut part = target.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let place = self.place(file);
        let download = Download { url: &place, part: &part, bytes: file.pin.map(|(bytes, _)| bytes) };
        let brought = match self.origin {
            Origin::Folder(_) => self.copy(Path::new(&place), &part),
            Origin::Url { .. } => download.run(agent, self.notice),
        };
        match brought {
            Err(ModelError { kind: ModelErrorKind::NotThere, .. }) if !file.required => {
                // An earlier attempt may have brought one from elsewhere.
                remove_file(&target)?;
                if folder != self.staging {
                    let _ = std::fs::remove_dir(folder);
                }
                return Ok(None);
            }
            outcome => outcome?,
        }
        match file.check(&part)? {
            Ok(sha256) => {
                std::fs::rename(&part, &target).map_err(|error| ModelError::io("rename", &part, error))?;
                download.forget()?;
                Ok(Some(sha256))
            }
            Err(kind) => {
                download.forget()?;
                Err(ModelError { operation: "take", place, kind })
            }
        }
    }

    /// The path or URL of a file. In a folder a file may also have its publisher's name.
    fn place(&self, file: &Wanted) -> String {
        match self.origin {
            Origin::Folder(folder) => {
                let publishers = folder.join(file.upstream);
                let own = folder.join(file.name);
                (if !own.exists() && publishers.exists() { publishers } else { own }).display().to_string()
            }
            Origin::Url { base, is_publishers } => {
                format!("{base}/{}", if is_publishers { file.upstream } else { file.name })
            }
        }
    }

    fn copy(&self, from: &Path, part: &Path) -> Result<(), ModelError> {
        let mut source = File::open(from).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ModelError { operation: "copy", place: from.display().to_string(), kind: ModelErrorKind::NotThere }
            }
            _ => ModelError::io("copy", from, error),
        })?;
        (self.notice)(Notice::Receiving { have: 0, size: source.metadata().ok().map(|found| found.len()) });
        let io = |error| ModelError::io("write", part, error);
        let mut file = File::create(part).map_err(io)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let read = source.read(&mut buffer).map_err(|error| ModelError::io("read", from, error))?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            file.write_all(bytes).map_err(io)?;
            (self.notice)(Notice::Bytes(read as u64));
        }
        file.sync_all().map_err(io)
    }

    /// Makes the staging folder the model's folder, in the place of an older one.
    fn move_to(&self, folder: &Path) -> Result<(), ModelError> {
        let old = self.staging.with_extension("old");
        remove(&old)?;
        match std::fs::rename(folder, &old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ModelError::io("replace", folder, error));
            }
            _ => {}
        }
        std::fs::rename(&self.staging, folder).map_err(|error| ModelError::io("rename", &self.staging, error))?;
        remove(&old)
    }

    /// After a failure: a copy is begun anew next time, and a download is kept where there is something of it.
    fn tidy(&self) {
        let is_copy = matches!(self.origin, Origin::Folder(_));
        if is_copy || !holds_bytes(&self.staging) {
            // What is left here is no model, and the next attempt clears it up.
            let _ = remove(&self.staging);
        }
    }
}

fn remove(folder: &Path) -> Result<(), ModelError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ModelError::io("delete", folder, error)),
        _ => Ok(()),
    }
}

fn remove_file(path: &Path) -> Result<(), ModelError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ModelError::io("delete", path, error)),
        _ => Ok(()),
    }
}

/// Whether a file of some length is anywhere below `folder`, versions aside.
fn holds_bytes(folder: &Path) -> bool {
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

fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(REPLY_TIMEOUT))
        .user_agent(concat!("ragstage/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}
