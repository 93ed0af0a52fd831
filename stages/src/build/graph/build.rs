//! The action that merges what chunks say into one graph.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::merge::merge;
use crate::artifact::Extracted;
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key, decoded};
use crate::error::{DecodeError, StageError};
use crate::step::Step;

const STEP: Step = Step::BuildGraph;

/// What chunks say to one graph, outputs `entities`, `relations` and `mentions`.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildGraph {
    /// What each chunk says.
    pub extracted: Digest,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for BuildGraph {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.salt);
        v.digest("extracted", &self.extracted);
        v.end();
    }
}

impl Action for BuildGraph {
    fn step(&self) -> Step {
        STEP
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let merged = merge(&*decoded::<Extracted>(context, STEP, &self.extracted)?);
        let bytes = |encoded: Result<Vec<u8>, DecodeError>| encoded.map_err(|error| StageError::encode(STEP, error));
        let outputs = vec![
            Output::value("entities", bytes(merged.entities.encode())?, merged.entities.rows.len()),
            Output::value("relations", bytes(merged.relations.encode())?, merged.relations.rows.len()),
            Output::value("mentions", bytes(merged.mentions.encode())?, merged.mentions.rows.len()),
        ];
        Ok(Produced { outputs, ..Produced::default() })
    }
}
