//! The action keys of earlier runs: what `why is this stale` compares with.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ragstage_cache::{Digest, Store};

use crate::stale::StaleReason;

/// The file in a run record that maps each action's label to its key and outputs.
pub const ACTIONS_FILE: &str = "actions.json";

/// How many run records are searched for an action.
const RUNS_SEARCHED: usize = 100;

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
    /// Why it ran although its key was known, where it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<StaleReason>,
}

/// An earlier run, whose actions are read when they are first asked for.
struct EarlierRun {
    id: String,
    actions: OnceLock<BTreeMap<String, RecordedAction>>,
}

/// The run records of some evaluations, newest first. Not only the latest: that one may have been killed, or have stopped
/// at an early stage, and knows nothing of what it did not reach.
///
/// Until somebody asks, no record is opened: a run that has nothing to do costs the same after a thousand others.
pub struct Previous {
    store: Arc<Store>,
    evaluations: Vec<String>,
    ids: Vec<String>,
    runs: OnceLock<Vec<EarlierRun>>,
}

impl Previous {
    /// The recorded runs of `evaluations`, as of now.
    pub fn new(store: Arc<Store>, evaluations: &[String]) -> Self {
        // A history that cannot be read costs explanations, not results.
        let ids = store.runs().ids().unwrap_or_default();
        Previous { store, evaluations: evaluations.to_vec(), ids, runs: OnceLock::new() }
    }

    fn runs(&self) -> &[EarlierRun] {
        self.runs.get_or_init(|| {
            let is_ours = |id: &&String| {
                let evaluation = self.store.runs().evaluation(id).ok().flatten();
                evaluation.is_some_and(|evaluation| self.evaluations.contains(&evaluation))
            };
            let ours = self.ids.iter().filter(is_ours).take(RUNS_SEARCHED);
            ours.map(|id| EarlierRun { id: id.clone(), actions: OnceLock::new() }).collect()
        })
    }

    /// The action of that label in the latest run that has one.
    pub fn action(&self, label: &str) -> Option<&RecordedAction> {
        self.runs().iter().find_map(|run| self.read(run).get(label))
    }

    /// The actions of that label in all runs that have one, newest first, with the ids of the runs.
    pub fn all<'a>(&'a self, label: &'a str) -> impl Iterator<Item = (&'a str, &'a RecordedAction)> {
        self.runs().iter().filter_map(move |run| Some((run.id.as_str(), self.read(run).get(label)?)))
    }

    /// The action of that label in the run `id`.
    pub fn action_of(&self, id: &str, label: &str) -> Option<&RecordedAction> {
        self.read(self.runs().iter().find(|run| run.id == id)?).get(label)
    }

    fn read<'a>(&self, run: &'a EarlierRun) -> &'a BTreeMap<String, RecordedAction> {
        // A run that was killed early has no such file.
        run.actions
            .get_or_init(|| self.store.runs().read_json(&run.id, ACTIONS_FILE).ok().flatten().unwrap_or_default())
    }
}
