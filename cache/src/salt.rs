//! Salts: how often a user asked for a step to be forced, which is part of the keys of that step.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, read_if_there};
use crate::lock::Locks;
use crate::{Digest, StoreError, StoreErrorKind};

const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct SaltFile {
    format: u32,
    evaluation: String,
    salts: BTreeMap<String, u64>,
}

/// The salts of each evaluation: `salts-v1/<blake3 of its name>.json`.
///
/// A step that was forced has a salt in its keys from then on, so what it made before is kept and not found.
#[derive(Debug)]
pub struct Salts {
    layout: Arc<Layout>,
    locks: Locks,
}

impl Salts {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Salts { locks: Locks::new(layout.clone()), layout }
    }

    /// The salts by step name; a step that was never forced has none.
    ///
    /// # Errors
    /// When the file cannot be read, is malformed, or a newer version wrote it.
    pub fn get(&self, evaluation: &str) -> Result<BTreeMap<String, u64>, StoreError> {
        let path = self.path(evaluation);
        let Some(bytes) = read_if_there("read salts", &path)? else { return Ok(BTreeMap::new()) };
        let file: SaltFile =
            serde_json::from_slice(&bytes).map_err(|error| StoreError::malformed("read salts", &path, error))?;
        if file.format > FORMAT {
            let kind = StoreErrorKind::Newer { found: file.format, known: FORMAT };
            return Err(StoreError { operation: "read salts", place: path, kind });
        }
        Ok(file.salts)
    }

    /// Adds one to the salts of `steps` and returns all salts of the evaluation.
    ///
    /// # Errors
    /// As [`Salts::get`], or when the file cannot be written.
    pub fn bump(&self, evaluation: &str, steps: &[&str]) -> Result<BTreeMap<String, u64>, StoreError> {
        // Read, add, write: another process must not do the same in between.
        let _guard = self.locks.acquire(&Digest::of_parts("salts", [evaluation.as_bytes()]), &mut || {})?;
        let mut salts = self.get(evaluation)?;
        for step in steps {
            *salts.entry((*step).to_string()).or_default() += 1;
        }
        let file = SaltFile { format: FORMAT, evaluation: evaluation.to_string(), salts };
        self.layout.write_json("write salts", &self.path(evaluation), &file)?;
        Ok(file.salts)
    }

    fn path(&self, evaluation: &str) -> PathBuf {
        self.layout.root.join("salts-v1").join(format!("{}.json", Digest::of(evaluation.as_bytes()).hex()))
    }
}
