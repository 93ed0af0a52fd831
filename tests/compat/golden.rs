//! Recorded digests of outputs, and what to do when an output has another one.
//!
//! `fixtures/compat/stages/<name>-v<version>.json` holds, for each output, the key that it was made under and the digest
//! of its bytes. The rule is that of the cache: **the same key must give the same bytes**. So
//!
//! - other bytes under the recorded key are an error that recording does not heal: whoever has a store would be given the
//!   old bytes for the new code. A version in the key has to be bumped first;
//! - another key (a version was bumped, an input or an option changed) only makes the record out of date.
//!
//! `RAGSTAGE_RECORD=1 cargo test --test compat` brings the records up to date.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ragstage_cache::key::key_of;
use ragstage_cache::manifest::FieldValue;
use ragstage_cache::{Digest, Manifest};
use ragstage_stages::contract::Action;
use serde::{Deserialize, Serialize};

use crate::memory::Ran;

const RECORD: &str = "RAGSTAGE_RECORD";

/// The folder of the records and of what they were made from.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/compat/stages")
}

/// The outputs of one thing that has a version: a step, an evaluator, an adapter, ...
pub struct Golden {
    name: String,
    version: u64,
    /// Where the version is bumped.
    place: String,
    outputs: BTreeMap<String, Made>,
}

/// An output, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    key: Digest,
    digest: Digest,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    code_version: u64,
    outputs: BTreeMap<String, Made>,
}

impl Golden {
    /// No outputs yet of `name` in `version`, which is bumped at `place`.
    pub fn new(name: &str, version: u64, place: &str) -> Self {
        Golden { name: name.to_string(), version, place: place.to_string(), outputs: BTreeMap::new() }
    }

    /// Takes an output made under `key`.
    pub fn take(&mut self, name: &str, key: Digest, bytes: &[u8]) {
        let made = Made { key, digest: Digest::of(bytes) };
        let other = self.outputs.insert(name.to_string(), made.clone()).filter(|other| *other != made);
        assert_eq!(other, None, "{}: two outputs are called {name}", self.name);
    }

    /// Takes the outputs of an action that are values; called `what`, each, after their own names.
    pub fn take_values(&mut self, what: &str, action: &dyn Action, ran: &Ran) {
        for output in ran.0.outputs.iter().filter(|output| !output.observation) {
            self.take(format!("{} {what}", output.name).trim_end(), key_of(action), &output.bytes);
        }
    }

    /// Compares with the record, or records.
    pub fn check(self) {
        let path = folder().join(format!("{}-v{}.json", self.name, self.version));
        let recorded: Option<Recorded> = std::fs::read(&path)
            .ok()
            .map(|bytes| serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        let recorded = recorded.unwrap_or_default();
        let changed = self.other_bytes_under_one_key(&recorded);
        assert!(
            changed.is_empty(),
            "{} (version {}) gives other bytes under the recorded key: {}.\nWhoever has a store would be given the old \
             bytes. If the change is meant, bump {} and then record anew: {RECORD}=1 cargo test --test compat",
            self.name,
            self.version,
            changed.join(", "),
            self.place,
        );
        if recorded.code_version == self.version && recorded.outputs == self.outputs {
            return;
        }
        let names = |of: &BTreeMap<String, Made>, other: &BTreeMap<String, Made>| -> Vec<String> {
            of.iter().filter(|(name, made)| other.get(*name) != Some(made)).map(|(name, _)| name.clone()).collect()
        };
        assert!(
            std::env::var_os(RECORD).is_some(),
            "the record {} is out of date: a version, an input or an option changed the key of {:?}; recorded and not \
             made any more: {:?}.\nIf that is meant, record anew: {RECORD}=1 cargo test --test compat",
            path.display(),
            names(&self.outputs, &recorded.outputs),
            names(&recorded.outputs, &self.outputs),
        );
        let record = Recorded { code_version: self.version, outputs: self.outputs };
        let mut text = serde_json::to_string_pretty(&record).expect("a record is JSON");
        text.push('\n');
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    fn other_bytes_under_one_key(&self, recorded: &Recorded) -> Vec<&str> {
        let differs = |name: &String, made: &Made| {
            recorded.outputs.get(name).is_some_and(|old| old.key == made.key && old.digest != made.digest)
        };
        self.outputs.iter().filter(|(name, made)| differs(name, made)).map(|(name, _)| name.as_str()).collect()
    }
}

/// The whole number at `path` of an action's key: the version of a part that it depends on.
pub fn version_in_key(action: &dyn Action, path: &str) -> u64 {
    let leaves = Manifest::of(action).leaves();
    match leaves.iter().find(|(leaf, _)| leaf == path) {
        Some((_, FieldValue::Uint(version))) => *version,
        found => panic!("no version at {path}: {found:?} of {leaves:?}"),
    }
}
