//! What of a knowledge base a mode reads.

use std::collections::BTreeMap;

use ragstage_cache::Digest;

use crate::build::full_text::Bm25Options;
use crate::error::{StageError, StageErrorKind};
use crate::model::EmbedderSpec;
use crate::step::Step;

/// An artifact of a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KbArtifact {
    /// The chunks.
    Chunks,
    /// The full-text index of the chunks.
    FullTextIndex,
    /// The vector index of the chunks.
    VectorIndex,
    /// The graph's entities.
    Entities,
    /// The graph's relations.
    Relations,
    /// Which chunk speaks of which entity or relation.
    Mentions,
    /// The vector index of the entities, then the relations.
    GraphVectorIndex,
}

impl KbArtifact {
    /// The name of the output that holds it, which is its name in keys too but for the graph's vector index.
    pub fn output(self) -> &'static str {
        match self {
            KbArtifact::Chunks => "chunks",
            KbArtifact::FullTextIndex => "full_text_index",
            KbArtifact::VectorIndex | KbArtifact::GraphVectorIndex => "vector_index",
            KbArtifact::Entities => "entities",
            KbArtifact::Relations => "relations",
            KbArtifact::Mentions => "mentions",
        }
    }
}

/// A knowledge base: the artifacts that a mode reads, and what of its recipe matters when it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct KnowledgeBase {
    /// The artifacts, at least those that the mode reads.
    pub artifacts: BTreeMap<KbArtifact, Digest>,
    /// How full-text matches are ranked.
    pub bm25: Bm25Options,
    /// What embeds queries, where the recipe has vectors.
    pub embedder: Option<EmbedderSpec>,
}

impl KnowledgeBase {
    /// The digest of an artifact.
    ///
    /// # Errors
    /// When it is not there: a fault of ours, since modes say what they read.
    pub fn digest(&self, artifact: KbArtifact) -> Result<Digest, StageError> {
        self.artifacts.get(&artifact).copied().ok_or_else(|| StageError {
            step: Step::Retrieve,
            kind: StageErrorKind::Encode(format!("the knowledge base has no {artifact:?}")),
        })
    }

    /// The embedder.
    ///
    /// # Errors
    /// When there is none: a fault of ours, since evaluation files are checked for it.
    pub fn embedder(&self) -> Result<&EmbedderSpec, StageError> {
        self.embedder.as_ref().ok_or_else(|| StageError {
            step: Step::Retrieve,
            kind: StageErrorKind::Encode("the knowledge base has no embedder".to_string()),
        })
    }
}
