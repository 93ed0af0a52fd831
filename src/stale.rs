//! Why an action has to run: one variant per way to be stale, each with the old and the new value.

use std::fmt;

use ragstage_cache::manifest::FieldChange;
use ragstage_cache::{Digest, Manifest};
use serde::{Deserialize, Serialize};

/// A reason to run an action again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StaleReason {
    /// No earlier run of this evaluation had this action.
    FirstBuild,
    /// A parameter of the action is another one: a root cause.
    Parameter {
        /// Dotted path of the parameter in the key.
        path: String,
        /// The value in the earlier run's key; nothing where it is new.
        old: Option<String>,
        /// The value in this run's key; nothing where it is gone.
        new: Option<String>,
    },
    /// An input artifact has other bytes: a cascade from the action that made it.
    Input {
        /// Dotted path of the input in the key.
        path: String,
        /// Digest in the earlier run's key.
        old: Option<String>,
        /// Digest in this run's key.
        new: Option<String>,
    },
    /// The step's code was changed and its version bumped.
    CodeVersion {
        /// The earlier version.
        old: Option<String>,
        /// This program's version.
        new: Option<String>,
    },
    /// `--force` asked for it.
    Forced,
    /// The key is the one of the last run, which could not complete the action.
    Incomplete,
    /// An artifact of the action is lost or corrupt.
    LostBlob {
        /// The artifact.
        digest: Digest,
    },
    /// What the action put into a system under test was looked at before it was used again, and is not there any more.
    ProbeFailed {
        /// What was found.
        why: String,
    },
    /// The key is the one of the last run, but its record is gone from the store.
    Evicted,
    /// An action that this one depends on has to run first; its outputs may turn out to be the same.
    Upstream {
        /// The label of that action.
        label: String,
    },
}

impl StaleReason {
    /// Whether something other than an input made the action stale.
    pub fn is_root_cause(&self) -> bool {
        !matches!(self, StaleReason::Input { .. } | StaleReason::Upstream { .. })
    }

    /// The reasons that follow from the keys' difference.
    pub fn between(old: &Manifest, new: &Manifest) -> Vec<StaleReason> {
        let changes = Manifest::diff(old, new);
        if changes.is_empty() {
            return vec![StaleReason::Incomplete];
        }
        changes.into_iter().map(StaleReason::from).collect()
    }
}

impl From<FieldChange> for StaleReason {
    fn from(change: FieldChange) -> Self {
        let FieldChange { path, old, new, input } = change;
        match path.as_str() {
            "salt" => StaleReason::Forced,
            "code_version" => StaleReason::CodeVersion { old, new },
            _ if input => StaleReason::Input { path, old, new },
            _ => StaleReason::Parameter { path, old, new },
        }
    }
}

fn shown(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("(absent)")
}

impl fmt::Display for StaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaleReason::FirstBuild => f.write_str("first build"),
            StaleReason::Parameter { path, old, new } => write!(f, "{path}: {} -> {}", shown(old), shown(new)),
            StaleReason::Input { path, old, new } => write!(f, "input {path}: {} -> {}", shown(old), shown(new)),
            StaleReason::CodeVersion { old, new } => write!(f, "code version: {} -> {}", shown(old), shown(new)),
            StaleReason::Forced => f.write_str("forced"),
            StaleReason::Incomplete => f.write_str("incomplete in the last run"),
            StaleReason::ProbeFailed { why } => write!(f, "the system does not have it any more: {why}"),
            StaleReason::Evicted => f.write_str("its record is gone from the store"),
            StaleReason::LostBlob { digest } => write!(f, "artifact {} is lost", digest.short()),
            StaleReason::Upstream { label } => write!(f, "after {label}"),
        }
    }
}
