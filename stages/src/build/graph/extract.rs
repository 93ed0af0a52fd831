//! The action that finds entities and relations in chunks.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::options::GraphOptions;
use crate::contract::{Action, Context, Produced, begin_key};
use crate::error::StageError;
use crate::step::Step;

/// Chunks to what each says of entities and relations, output `extracted`; one row per chunk text.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractGraph {
    /// The unit's chunks.
    pub chunks: Digest,
    /// How.
    pub options: GraphOptions,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for ExtractGraph {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::ExtractGraph, self.salt);
        v.digest("chunks", &self.chunks);
        self.options.walk(v);
        v.end();
    }
}

impl Action for ExtractGraph {
    fn step(&self) -> Step {
        Step::ExtractGraph
    }

    fn run(&self, _: &dyn Context) -> Result<Produced, StageError> {
        Err(StageError::encode(Step::ExtractGraph, "not merged yet"))
    }
}
