//! What an action made: its key, its outputs, and the manifest that explains the key.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, read_if_there, remove_if_there};
use crate::{Digest, Manifest, StoreError, StoreErrorKind};

pub(crate) const BUCKET: &str = "actions-v1";
pub(crate) const RECORD_SUFFIX: &str = ".json";
pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";

/// The format of action records that this version writes and reads.
pub const ACTION_FORMAT: u32 = 1;

/// One output of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// The output's name within its action, e.g. `chunks`.
    pub name: String,
    /// The blob.
    pub digest: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its rows; 0 for what is no table.
    pub rows: u64,
    /// Whether it holds observations, which never enter a key, instead of values.
    pub observation: bool,
}

/// What the rows of an action have cost: what its outputs are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ActionSpend {
    /// Tokens read and written.
    pub tokens: u64,
    /// Billionths of a US dollar, at the prices of the run that recorded it.
    pub nano_usd: u64,
}

/// A finished action. Its blobs were durable before this record was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// [`ACTION_FORMAT`].
    pub format: u32,
    /// The action key: the digest of the manifest's walk.
    pub key: Digest,
    /// The step that ran, e.g. `chunk`.
    pub step: String,
    /// The action's name for people, e.g. `chunk corpus`.
    pub label: String,
    /// What it made, in the step's order.
    pub outputs: Vec<OutputRecord>,
    /// Items that can never be computed from its inputs (an unreadable document); the outputs say which. The first
    /// records of this format lack it: they knew none.
    #[serde(default)]
    pub rejected: u64,
    /// The row slots that it used, for garbage collection. The first records of this format lack it.
    #[serde(default)]
    pub slots: Vec<Digest>,
    /// What its rows have cost, whichever run paid for them; absent where they cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend: Option<ActionSpend>,
    /// Why what its outputs point at outside of the store is known to be gone, where it is: whoever needs it makes it again,
    /// and nobody else has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    /// How long it took, in milliseconds: what making it again would cost.
    pub elapsed_ms: f64,
    /// When it finished, in milliseconds since 1970.
    pub created_unix_ms: u64,
}

/// The finished actions: `actions-v1/ab/cdef….json`, each with its manifest in `cdef….manifest.json` beside it.
///
/// The manifest is a file of its own because it may be large and a warm run reads none.
#[derive(Debug)]
pub struct ActionCache {
    layout: Arc<Layout>,
}

impl ActionCache {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        ActionCache { layout }
    }

    /// The record of `key`; `None` when the action never finished, or when its record was malformed and is now in
    /// quarantine (an incident says so).
    ///
    /// # Errors
    /// When the record cannot be read, or a newer version wrote it.
    pub fn get(&self, key: &Digest) -> Result<Option<ActionRecord>, StoreError> {
        let path = self.path(key);
        let Some(bytes) = read_if_there("read action", &path)? else { return Ok(None) };
        match parse(&bytes, key) {
            Ok(record) => Ok(Some(record)),
            Err(Unreadable::Newer(found)) => Err(StoreError {
                operation: "read action",
                place: path,
                kind: StoreErrorKind::Newer { found, known: ACTION_FORMAT },
            }),
            Err(Unreadable::Malformed(why)) => {
                self.layout.quarantine(&path, format!("malformed action record: {why}"));
                Ok(None)
            }
        }
    }

    /// Records a finished action: first its manifest, then the record, so that no record is without one.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn put(&self, record: &ActionRecord, manifest: &Manifest) -> Result<(), StoreError> {
        self.layout.write_json_beside("write manifest", &self.manifest_path(&record.key), manifest)?;
        self.write(record)
    }

    fn write(&self, record: &ActionRecord) -> Result<(), StoreError> {
        self.layout.write_json("write action", &self.path(&record.key), &Checked { check: check(record), record })
    }

    /// Forgets an action, so that it runs again. Not an error when it is not there.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, key: &Digest) -> Result<(), StoreError> {
        // The record goes first: a manifest alone means nothing.
        for path in [self.path(key), self.manifest_path(key)] {
            self.layout.scratch("remove action", &path)?;
            remove_if_there(&path).map_err(|error| StoreError::io("remove action", &path, error))?;
        }
        Ok(())
    }

    /// Notes that what an action's outputs point at outside of the store is gone, and `why`. The action itself stays. Not an
    /// error when it is not there.
    ///
    /// # Errors
    /// As [`ActionCache::get`], or when the record cannot be written.
    pub fn withdraw(&self, key: &Digest, why: &str) -> Result<(), StoreError> {
        let Some(record) = self.get(key)? else { return Ok(()) };
        self.write(&ActionRecord { withdrawn: Some(why.to_string()), ..record })
    }

    /// The readable preimage of `key`; `None` when it is not there or malformed (an incident says so).
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn manifest(&self, key: &Digest) -> Result<Option<Manifest>, StoreError> {
        let path = self.manifest_path(key);
        let Some(bytes) = read_if_there("read action", &path)? else { return Ok(None) };
        match serde_json::from_slice(&bytes) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(error) => {
                self.layout.quarantine(&path, format!("malformed manifest: {error}"));
                Ok(None)
            }
        }
    }

    /// The keys of all finished actions, sorted.
    ///
    /// # Errors
    /// When the directories cannot be listed.
    pub fn all(&self) -> Result<Vec<Digest>, StoreError> {
        Ok(self.layout.digests(BUCKET, RECORD_SUFFIX)?.0)
    }

    pub(crate) fn path(&self, key: &Digest) -> PathBuf {
        self.layout.place(BUCKET, key, RECORD_SUFFIX)
    }

    pub(crate) fn manifest_path(&self, key: &Digest) -> PathBuf {
        self.layout.place(BUCKET, key, MANIFEST_SUFFIX)
    }
}

/// A record as it is written.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    record: &'a ActionRecord,
    check: Digest,
}

/// Digest of what readers go by: a damaged byte in a name or a count leaves a record that can be read. No float is in it,
/// which need not be read as it was written.
fn check(record: &ActionRecord) -> Digest {
    let outputs = record.outputs.iter().map(|output| {
        let OutputRecord { name, digest, bytes, rows, observation } = output;
        format!("{name:?} {digest} {bytes} {rows} {observation}\n")
    });
    let slots = record.slots.iter().map(|slot| format!("{slot}\n"));
    let text: String = outputs.chain(slots).chain([record.rejected.to_string()]).collect();
    Digest::of(text.as_bytes())
}

enum Unreadable {
    Newer(u32),
    Malformed(String),
}

fn parse(bytes: &[u8], key: &Digest) -> Result<ActionRecord, Unreadable> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Check {
        /// The first records of this format lack it.
        check: Option<Digest>,
    }
    let record: ActionRecord = serde_json::from_slice(bytes).map_err(|error| {
        // A newer record may lack fields of ours; it must not be taken for damage.
        match serde_json::from_slice::<Format>(bytes) {
            Ok(Format { format }) if format > ACTION_FORMAT => Unreadable::Newer(format),
            _ => Unreadable::Malformed(error.to_string()),
        }
    })?;
    if record.format > ACTION_FORMAT {
        return Err(Unreadable::Newer(record.format));
    }
    if record.key != *key {
        return Err(Unreadable::Malformed(format!("it is the record of {}", record.key.short())));
    }
    let stated = serde_json::from_slice(bytes).map(|Check { check }| check);
    match stated.map_err(|error| Unreadable::Malformed(error.to_string()))? {
        Some(stated) if stated != check(&record) => {
            Err(Unreadable::Malformed("its outputs are not those written".into()))
        }
        _ => Ok(record),
    }
}
