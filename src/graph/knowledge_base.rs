//! The nodes that build one unit's knowledge base: only those that a mode reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ragstage_stages::build::full_text::FullTextOptions;
use ragstage_stages::model::EmbedderSpec;
use ragstage_stages::query::search::{KbArtifact, SearchMode};
use ragstage_stages::step::Step;

use super::builder::GraphBuilder;
use super::node::{EmbedWhat, NodeId, Spec};
use super::unit_place::UnitPlace;
use crate::evaluation::BuiltRecipe;

/// A unit's knowledge base as far as it is needed.
pub(super) struct KbNodes {
    pub(super) artifacts: BTreeMap<KbArtifact, NodeId>,
}

impl KbNodes {
    /// No knowledge base, for a unit of which no case is asked.
    pub(super) fn none() -> Self {
        KbNodes { artifacts: BTreeMap::new() }
    }

    /// The nodes of the artifacts that `mode` reads.
    pub(super) fn of(&self, mode: &SearchMode) -> BTreeMap<KbArtifact, NodeId> {
        let mut reads = BTreeSet::new();
        mode.reads(&mut reads);
        self.artifacts.iter().filter(|(artifact, _)| reads.contains(artifact)).map(|(a, id)| (*a, *id)).collect()
    }
}

impl GraphBuilder<'_> {
    /// Adds the nodes that make the artifacts in `needed`; chunks are always made.
    pub(super) fn knowledge_base(
        &mut self,
        at: &UnitPlace<'_>,
        recipe: &BuiltRecipe,
        pages: NodeId,
        needed: &BTreeSet<KbArtifact>,
        salt: &dyn Fn(Step) -> u64,
    ) -> KbNodes {
        let mut artifacts = BTreeMap::new();
        let chunks = self.add(at, Step::Chunk, None, vec![pages], Spec::Chunk { options: recipe.chunk.clone() }, salt);
        artifacts.insert(KbArtifact::Chunks, chunks);
        if needed.contains(&KbArtifact::FullTextIndex) {
            let FullTextOptions { analyzer, title_weight, bm25: _ } = &recipe.full_text;
            let spec = Spec::FullTextIndex { analyzer: analyzer.clone(), title_weight: *title_weight };
            let index = self.add(at, Step::FullTextIndex, None, vec![chunks], spec, salt);
            artifacts.insert(KbArtifact::FullTextIndex, index);
        }
        if let Some(embedder) = at.embedder.filter(|_| needed.contains(&KbArtifact::VectorIndex)) {
            let index = self.vectors(at, recipe, embedder, EmbedWhat::Chunks, chunks, salt);
            artifacts.insert(KbArtifact::VectorIndex, index);
        }
        let graph = [KbArtifact::Entities, KbArtifact::Relations, KbArtifact::Mentions];
        let of_graph = graph.iter().chain(&[KbArtifact::GraphVectorIndex]).any(|artifact| needed.contains(artifact));
        if let Some(options) = recipe.graph.as_ref().filter(|_| of_graph) {
            let spec = Spec::ExtractGraph { options: Arc::new(options.clone()) };
            let extracted = self.add(at, Step::ExtractGraph, None, vec![chunks], spec, salt);
            let built = self.add(at, Step::BuildGraph, None, vec![extracted], Spec::BuildGraph, salt);
            artifacts.extend(graph.map(|artifact| (artifact, built)));
            if let Some(embedder) = at.embedder.filter(|_| needed.contains(&KbArtifact::GraphVectorIndex)) {
                let index = self.vectors(at, recipe, embedder, EmbedWhat::Graph, built, salt);
                artifacts.insert(KbArtifact::GraphVectorIndex, index);
            }
        }
        KbNodes { artifacts }
    }

    fn vectors(
        &mut self,
        at: &UnitPlace<'_>,
        recipe: &BuiltRecipe,
        embedder: &Arc<EmbedderSpec>,
        what: EmbedWhat,
        texts: NodeId,
        salt: &dyn Fn(Step) -> u64,
    ) -> NodeId {
        // Labels tell the two kinds of vectors of a unit apart.
        let of = match what {
            EmbedWhat::Chunks => None,
            EmbedWhat::Graph => Some("graph"),
        };
        let spec = Spec::Embed { what, embedder: embedder.clone() };
        let vectors = self.add_part(at, Step::Embed, of, vec![texts], spec, salt);
        self.add_part(at, Step::VectorIndex, of, vec![vectors], Spec::VectorIndex { options: recipe.vector }, salt)
    }
}
