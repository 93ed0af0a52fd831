//! The action that embeds a unit's texts.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use crate::contract::{Action, Context, Produced, begin_key};
use crate::error::StageError;
use crate::model::EmbedderSpec;
use crate::step::Step;

/// Which texts are embedded.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedInput {
    /// The unit's chunks.
    Chunks(Digest),
    /// The unit's entities, then its relations.
    Graph {
        /// The entities.
        entities: Digest,
        /// The relations.
        relations: Digest,
    },
}

/// Texts to vectors, output `embeddings`; one row per distinct text and embedder, shared by everything that embeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Embed {
    /// Which texts.
    pub input: EmbedInput,
    /// The embedder.
    pub embedder: EmbedderSpec,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for Embed {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Embed, self.salt);
        match &self.input {
            EmbedInput::Chunks(chunks) => v.digest("chunks", chunks),
            EmbedInput::Graph { entities, relations } => {
                v.digest("entities", entities);
                v.digest("relations", relations);
            }
        }
        self.embedder.walk(v);
        v.end();
    }
}

impl Action for Embed {
    fn step(&self) -> Step {
        Step::Embed
    }

    fn run(&self, _: &dyn Context) -> Result<Produced, StageError> {
        Err(StageError::encode(Step::Embed, "not merged yet"))
    }
}
