//! The action that merges what chunks say into one graph.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use crate::contract::{Action, Context, Produced, begin_key};
use crate::error::StageError;
use crate::step::Step;

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
        begin_key(v, Step::BuildGraph, self.salt);
        v.digest("extracted", &self.extracted);
        v.end();
    }
}

impl Action for BuildGraph {
    fn step(&self) -> Step {
        Step::BuildGraph
    }

    fn run(&self, _: &dyn Context) -> Result<Produced, StageError> {
        Err(StageError::encode(Step::BuildGraph, "not merged yet"))
    }
}
