//! What a run has made, by the labels of its actions.

use std::collections::BTreeMap;

use ragstage_stages::contract::Artifact;

use super::super::error::OpenVikingError;
use crate::batch::Batch;
use crate::exec::{ACTIONS_FILE, RecordedAction, RunError};

/// The outputs of the actions of one run.
pub struct RunArtifacts<'b> {
    batch: &'b Batch,
    actions: BTreeMap<String, RecordedAction>,
}

impl<'b> RunArtifacts<'b> {
    /// Those of the run `run` of `batch`; none where it left no record.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(batch: &'b Batch, run: Option<&str>) -> Result<Self, OpenVikingError> {
        let actions = match run {
            Some(run) => batch.shared.store.runs().read_json(run, ACTIONS_FILE)?.unwrap_or_default(),
            None => BTreeMap::new(),
        };
        Ok(RunArtifacts { batch, actions })
    }

    /// The output `name` of the only action whose label begins with `step` and ends with `end`; `None` where there is none.
    ///
    /// # Errors
    /// When the store cannot be read, or what it has is damaged.
    pub fn output<A: Artifact>(&self, step: &str, end: &str, name: &str) -> Result<Option<A>, OpenVikingError> {
        let is_it = |label: &str| label.split(' ').next() == Some(step) && label.ends_with(end);
        let found =
            self.actions.iter().find(|(label, _)| is_it(label)).and_then(|(_, action)| action.outputs.get(name));
        let Some(digest) = found else { return Ok(None) };
        let bytes = self.batch.shared.store.cas().get(digest)?;
        let decoded = A::decode(bytes);
        decoded.map(Some).map_err(|error| OpenVikingError::Run(RunError::Internal(format!("{step} {name}: {error}"))))
    }
}
