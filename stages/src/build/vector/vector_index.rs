//! The action that makes vectors ready to be searched.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::options::VectorOptions;
use crate::contract::{Action, Context, Produced, begin_key};
use crate::error::StageError;
use crate::step::Step;

/// Embeddings to an index, output `vector_index`.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildVectorIndex {
    /// The vectors.
    pub embeddings: Digest,
    /// How they are compared.
    pub options: VectorOptions,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for BuildVectorIndex {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::VectorIndex, self.salt);
        v.digest("embeddings", &self.embeddings);
        self.options.walk(v);
        v.end();
    }
}

impl Action for BuildVectorIndex {
    fn step(&self) -> Step {
        Step::VectorIndex
    }

    fn run(&self, _: &dyn Context) -> Result<Produced, StageError> {
        Err(StageError::encode(Step::VectorIndex, "not merged yet"))
    }
}
