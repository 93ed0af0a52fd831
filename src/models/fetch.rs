//! Brings a model into the user's folder, whole or not at all.

use std::path::{Path, PathBuf};

use ureq::Agent;

use super::catalog::CatalogModel;
use super::model_home::ModelHome;
use crate::download::{
    FetchError, FetchErrorKind, Notice, Transfer, agent, copy, holds_bytes, is_url, lock, remove_file, remove_folder,
    replace_folder, sha256, with_suffix,
};

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
        if is_url(text) {
            ModelSource::Url(text.trim_end_matches('/').to_string())
        } else {
            ModelSource::Folder(PathBuf::from(text))
        }
    }
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
) -> Result<Fetched, FetchError> {
    let known = CatalogModel::find(name);
    let wanted = wanted(known);
    let folder = home.folder(name);
    let origin = match (source, known) {
        (ModelSource::Folder(folder), _) => Origin::Folder(folder),
        (ModelSource::Url(base), _) => Origin::Url { base, is_publishers: false },
        (ModelSource::Upstream, Some(known)) => Origin::Url { base: known.upstream, is_publishers: true },
        (ModelSource::Upstream, None) => {
            let place = name.to_string();
            return Err(FetchError { operation: "get the model", place, kind: FetchErrorKind::Unknown("model") });
        }
    };
    let fetch = Fetch { origin, staging: home.root().join(format!(".{name}.part")), notice };
    std::fs::create_dir_all(home.root()).map_err(|error| FetchError::io("make the folder", home.root(), error))?;
    let _lock = lock(&home.root().join(format!(".{name}.lock")), notice)?;
    if known.is_some()
        && let Some(files) = whole(&folder, &wanted)?
    {
        return Ok(Fetched { folder, files, was_there: true, pinned: true });
    }
    let files = fetch.all(&wanted).inspect_err(|_| fetch.tidy())?;
    replace_folder(&fetch.staging, &folder)?;
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
fn whole(folder: &Path, wanted: &[Wanted]) -> Result<Option<Vec<FetchedFile>>, FetchError> {
    let mut files = Vec::new();
    for file in wanted {
        match file.check(&folder.join(file.name))? {
            Ok(sha256) => files.push(FetchedFile { name: file.name.to_string(), sha256 }),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(files))
}

impl Wanted {
    /// The SHA-256 of the file at `path`, or how it differs from the pin.
    fn check(&self, path: &Path) -> Result<Result<String, FetchErrorKind>, FetchError> {
        let Some(found) = sha256(path)? else { return Ok(Err(FetchErrorKind::NotThere)) };
        Ok(match self.pin {
            Some((_, pinned)) if pinned != found => Err(FetchErrorKind::Mismatch {
                expected: format!("the file with SHA-256 {pinned}"),
                found: format!("one with {found}"),
            }),
            _ => Ok(found),
        })
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
    fn all(&self, wanted: &[Wanted]) -> Result<Vec<FetchedFile>, FetchError> {
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
    fn one(&self, agent: &Agent, file: &Wanted) -> Result<Option<String>, FetchError> {
        let target = self.staging.join(file.name);
        if file.pin.is_some()
            && let Ok(sha256) = file.check(&target)?
        {
            return Ok(Some(sha256));
        }
        (self.notice)(Notice::File(file.name));
        let folder = target.parent().unwrap_or(&self.staging);
        std::fs::create_dir_all(folder).map_err(|error| FetchError::io("make the folder", folder, error))?;
        let part = with_suffix(&target, ".part");
        let place = self.place(file);
        let download = Transfer::new(&place, &part, file.pin.map(|(bytes, _)| bytes));
        let brought = match self.origin {
            Origin::Folder(_) => copy(Path::new(&place), &part, self.notice),
            Origin::Url { .. } => download.run(agent, self.notice),
        };
        match brought {
            Err(FetchError { kind: FetchErrorKind::NotThere, .. }) if !file.required => {
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
                std::fs::rename(&part, &target).map_err(|error| FetchError::io("rename", &part, error))?;
                download.forget()?;
                Ok(Some(sha256))
            }
            Err(kind) => {
                download.forget()?;
                Err(FetchError { operation: "take", place, kind })
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

    /// After a failure: a copy is begun anew next time, and a download is kept where there is something of it.
    fn tidy(&self) {
        let is_copy = matches!(self.origin, Origin::Folder(_));
        if is_copy || !holds_bytes(&self.staging) {
            // What is left here is no model, and the next attempt clears it up.
            let _ = remove_folder(&self.staging);
        }
    }
}
