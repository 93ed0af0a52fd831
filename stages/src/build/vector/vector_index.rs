//! The action that makes vectors ready to be searched.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::embeddings::Embeddings;
use super::index::VectorIndex;
use super::options::VectorOptions;
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key, decoded};
use crate::error::StageError;
use crate::step::Step;

/// [`Embeddings`] to a [`VectorIndex`], output `vector_index`.
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

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let embeddings = decoded::<Embeddings>(context, Step::VectorIndex, &self.embeddings)?;
        let fault = |error| StageError::encode(Step::VectorIndex, error);
        let index = VectorIndex::build(&embeddings, &self.options).map_err(fault)?;
        let bytes = index.encode().map_err(fault)?;
        let outputs = vec![Output::value("vector_index", bytes, index.vectors())];
        Ok(Produced { outputs, ..Produced::default() })
    }
}
