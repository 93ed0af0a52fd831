//! The action keys of earlier runs: what `why is this stale` compares with.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ragstage_cache::{Digest, Store};

/// The file in a run record that maps each action's label to its key and outputs.
pub const ACTIONS_FILE: &str = "actions.json";

/// An action as a run record remembers it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedAction {
    /// Its key.
    pub key: Digest,
    /// Whether its record was kept in the action cache.
    pub complete: bool,
    /// Digests of its outputs by name.
    pub outputs: BTreeMap<String, Digest>,
    /// The row slots it used.
    #[serde(default)]
    pub slots: Vec<Digest>,
}

/// Reads the latest run records of some evaluations, when it is first asked.
pub struct Previous {
    store: Arc<Store>,
    runs: Vec<String>,
    actions: OnceLock<BTreeMap<String, RecordedAction>>,
}

impl Previous {
    /// The latest recorded runs of `evaluations`, as of now.
    pub fn new(store: Arc<Store>, evaluations: &[String]) -> Self {
        let mut runs = Vec::new();
        for evaluation in evaluations {
            // A history that cannot be read costs explanations, not results.
            if let Ok(Some(run)) = store.runs().latest(evaluation) {
                runs.push(run.id().to_string());
            }
        }
        Previous { store, runs, actions: OnceLock::new() }
    }

    /// The action of that label in the latest run.
    pub fn action(&self, label: &str) -> Option<&RecordedAction> {
        self.actions
            .get_or_init(|| {
                let mut actions = BTreeMap::new();
                for run in &self.runs {
                    let read: Option<BTreeMap<String, RecordedAction>> =
                        self.store.runs().read_json(run, ACTIONS_FILE).ok().flatten();
                    actions.extend(read.unwrap_or_default());
                }
                actions
            })
            .get(label)
    }
}
