//! Run records: what each invocation planned, did and found.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::layout::{Layout, list, read_if_there};
use crate::nonce::{nonce, unix_ms};
use crate::{Digest, StoreError, StoreErrorKind};

const FORMAT: u32 = 1;
const RUN_FILE: &str = "run.json";

const ROOTS_FILE: &str = "roots.json";

/// What a run used, fresh or cached: `roots.json`. Garbage collection keeps it as long as it keeps the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roots {
    /// The keys of its actions.
    pub actions: Vec<Digest>,
    /// The row slots of its steps.
    pub slots: Vec<Digest>,
}

/// A run record's id and what it is a run of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// `YYYYMMDDTHHMMSS.mmmZ-<8 hex digits>`: sorts by time.
    pub id: String,
    /// The evaluation's name.
    pub evaluation: String,
}

#[derive(Serialize, Deserialize)]
struct RootsFile {
    format: u32,
    actions: Vec<Digest>,
    slots: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
struct RunFile {
    format: u32,
    id: String,
    evaluation: String,
}

/// The run records: `runs/<run id>/`, each with a `run.json` and what its run wrote.
#[derive(Debug)]
pub struct Runs {
    layout: Arc<Layout>,
}

/// One run record.
#[derive(Debug)]
pub struct RunDir {
    layout: Arc<Layout>,
    id: String,
    path: PathBuf,
    /// The files that lines are appended to.
    open: Mutex<BTreeMap<String, File>>,
}

impl Runs {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Runs { layout }
    }

    /// Begins the record of a new run of `evaluation`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self, evaluation: &str) -> Result<RunDir, StoreError> {
        let runs = self.layout.root.join("runs");
        self.layout.scratch("create run record", &runs)?;
        loop {
            let now = unix_ms();
            let id = format!("{}-{:08x}", crate::clock::compact(now / 1000, (now % 1000) as u32), nonce());
            let path = runs.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let run = self.dir(id);
                    let file = RunFile { format: FORMAT, id: run.id.clone(), evaluation: evaluation.to_string() };
                    run.write_json(RUN_FILE, &file)?;
                    return Ok(run);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io("create run record", &path, error)),
            }
        }
    }

    /// All run records, newest first. A directory without a readable `run.json` is none.
    ///
    /// # Errors
    /// When the directory cannot be listed or a record cannot be read.
    pub fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.newest_first()?.collect()
    }

    /// The newest run record of `evaluation`.
    ///
    /// # Errors
    /// As [`Runs::list`].
    pub fn latest(&self, evaluation: &str) -> Result<Option<RunDir>, StoreError> {
        // Read one by one: of a long history only the newest is wanted.
        for run in self.newest_first()? {
            let run = run?;
            if run.evaluation == evaluation {
                return Ok(Some(self.dir(run.id)));
            }
        }
        Ok(None)
    }

    /// The ids of all run records, newest first. Opens none of them.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn ids(&self) -> Result<Vec<String>, StoreError> {
        let paths = list(&self.layout.root.join("runs"))?;
        Ok(paths.iter().rev().filter_map(|path| Some(path.file_name()?.to_str()?.to_string())).collect())
    }

    /// What the run `id` is a run of; `None` where it is no run record.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn evaluation(&self, id: &str) -> Result<Option<String>, StoreError> {
        self.evaluation_of(id, &self.layout.root.join("runs").join(id))
    }

    fn newest_first(&self) -> Result<impl Iterator<Item = Result<RunSummary, StoreError>> + '_, StoreError> {
        Ok(self.ids()?.into_iter().filter_map(|id| {
            let evaluation = self.evaluation(&id).transpose()?;
            Some(evaluation.map(|evaluation| RunSummary { id, evaluation }))
        }))
    }

    /// The run record `id`; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(&self, id: &str) -> Result<Option<RunDir>, StoreError> {
        let path = self.layout.root.join("runs").join(id);
        Ok(self.evaluation_of(id, &path)?.map(|_| self.dir(id.to_string())))
    }

    /// The JSON document `name` of run `id`; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read or does not have the shape of `T`.
    pub fn read_json<T: DeserializeOwned>(&self, id: &str, name: &str) -> Result<Option<T>, StoreError> {
        let path = self.layout.root.join("runs").join(id).join(name);
        let Some(bytes) = read_if_there("read run record", &path)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError::malformed("read run record", &path, error))
    }

    /// What run `id` used; `None` when it does not say.
    ///
    /// # Errors
    /// When that cannot be read, is malformed, or a newer version wrote it.
    pub fn roots(&self, id: &str) -> Result<Option<Roots>, StoreError> {
        match self.read_json::<RootsFile>(id, ROOTS_FILE)? {
            Some(file) if file.format > FORMAT => Err(StoreError {
                operation: "read run record",
                place: self.layout.root.join("runs").join(id).join(ROOTS_FILE),
                kind: StoreErrorKind::Newer { found: file.format, known: FORMAT },
            }),
            file => Ok(file.map(|file| Roots { actions: file.actions, slots: file.slots })),
        }
    }

    fn evaluation_of(&self, id: &str, path: &Path) -> Result<Option<String>, StoreError> {
        let Some(bytes) = read_if_there("read run record", &path.join(RUN_FILE))? else { return Ok(None) };
        let run: Option<RunFile> = serde_json::from_slice(&bytes).ok();
        Ok(run.filter(|run| run.id == id).map(|run| run.evaluation))
    }

    fn dir(&self, id: String) -> RunDir {
        let path = self.layout.root.join("runs").join(&id);
        RunDir { layout: self.layout.clone(), id, path, open: Mutex::default() }
    }
}

impl RunDir {
    /// The run's id: `YYYYMMDDTHHMMSS.mmmZ-<8 hex digits>`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The record's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the JSON document `name`, atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        self.layout.write_json("write run record", &self.path.join(name), value)
    }

    /// Writes what the run uses, for garbage collection. Best before the first action, so that an interrupted run is
    /// protected too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_roots(&self, roots: &Roots) -> Result<(), StoreError> {
        self.write_json(
            ROOTS_FILE,
            &RootsFile { format: FORMAT, actions: roots.actions.clone(), slots: roots.slots.clone() },
        )
    }

    /// Appends `line`, or several with line feeds between them, and a line feed to the file `name`. What was appended survives the death of the process, not of
    /// the machine.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append_line(&self, name: &str, line: &str) -> Result<(), StoreError> {
        let path = self.path.join(name);
        self.layout.scratch("append to run record", &path)?;
        let failed = |error| StoreError::io("append to run record", &path, error);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(name) {
            let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
            open.insert(name.to_string(), file);
        }
        match open.get_mut(name) {
            // One write, so that the lines of threads and processes do not mix.
            Some(file) => file.write_all(format!("{line}\n").as_bytes()).map_err(failed),
            None => Ok(()),
        }
    }
}
