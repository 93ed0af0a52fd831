//! Which mode, with its options.

use std::collections::BTreeSet;

use ragstage_cache::KeyVisitor;

use super::full_text_search::FullTextSearch;
use super::graph_search::GraphSearch;
use super::hybrid_search::HybridSearch;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::multihop_search::MultihopSearch;
use super::rerank_search::RerankSearch;
use super::rewrite_search::RewriteSearch;
use super::searcher::Search;
use super::vector_search::VectorSearch;
use crate::contract::Context;
use crate::error::StageError;

/// A query mode with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchMode {
    /// BM25.
    FullText(FullTextSearch),
    /// Nearest vectors.
    Vector(VectorSearch),
    /// Several modes, fused.
    Hybrid(HybridSearch),
    /// Entities and relations, and the chunks that speak of them.
    Graph(GraphSearch),
    /// Another mode's candidates, put into a better order.
    Rerank(RerankSearch),
    /// Another mode, asked with several wordings.
    Rewrite(RewriteSearch),
    /// Another mode, asked in rounds.
    Multihop(MultihopSearch),
}

impl SearchMode {
    /// Its name in traces and errors.
    pub fn name(&self) -> &'static str {
        match self {
            SearchMode::FullText(_) => "full_text_search",
            SearchMode::Vector(_) => "vector_search",
            SearchMode::Hybrid(_) => "hybrid_search",
            SearchMode::Graph(_) => "graph_search",
            SearchMode::Rerank(_) => "rerank_search",
            SearchMode::Rewrite(_) => "rewrite_search",
            SearchMode::Multihop(_) => "multihop_search",
        }
    }

    /// Adds the artifacts that the mode reads, those of the modes that it asks included.
    pub fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        match self {
            SearchMode::FullText(mode) => mode.reads(artifacts),
            SearchMode::Vector(mode) => mode.reads(artifacts),
            SearchMode::Hybrid(mode) => mode.reads(artifacts),
            SearchMode::Graph(mode) => mode.reads(artifacts),
            SearchMode::Rerank(mode) => mode.reads(artifacts),
            SearchMode::Rewrite(mode) => mode.reads(artifacts),
            SearchMode::Multihop(mode) => mode.reads(artifacts),
        }
    }

    /// Visits all that results depend on as a record `name`: the mode's options, the artifacts that it reads, and what of the
    /// recipe matters to it.
    pub fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        match self {
            SearchMode::FullText(mode) => mode.walk(name, kb, v),
            SearchMode::Vector(mode) => mode.walk(name, kb, v),
            SearchMode::Hybrid(mode) => mode.walk(name, kb, v),
            SearchMode::Graph(mode) => mode.walk(name, kb, v),
            SearchMode::Rerank(mode) => mode.walk(name, kb, v),
            SearchMode::Rewrite(mode) => mode.walk(name, kb, v),
            SearchMode::Multihop(mode) => mode.walk(name, kb, v),
        }
    }

    /// Whether a model is asked when this mode is asked for a case, beside the embedder.
    pub fn calls_models(&self) -> bool {
        match self {
            SearchMode::FullText(_) | SearchMode::Vector(_) | SearchMode::Graph(_) => false,
            SearchMode::Hybrid(mode) => mode.parts.iter().any(|part| part.mode.calls_models()),
            SearchMode::Rerank(mode) => mode.calls_models(),
            SearchMode::Rewrite(mode) => mode.calls_models(),
            SearchMode::Multihop(mode) => mode.calls_models(),
        }
    }

    /// The mode on a knowledge base.
    ///
    /// # Errors
    /// When an artifact is lost or is not what it should be.
    pub fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        match self {
            SearchMode::FullText(mode) => mode.open(context, kb),
            SearchMode::Vector(mode) => mode.open(context, kb),
            SearchMode::Hybrid(mode) => mode.open(context, kb),
            SearchMode::Graph(mode) => mode.open(context, kb),
            SearchMode::Rerank(mode) => mode.open(context, kb),
            SearchMode::Rewrite(mode) => mode.open(context, kb),
            SearchMode::Multihop(mode) => mode.open(context, kb),
        }
    }
}
