//! `rerank_search`: candidates of another mode, put into a better order.

use std::collections::BTreeSet;
use std::sync::Arc;

use ragstage_cache::KeyVisitor;

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::mode::SearchMode;
use super::searcher::Search;
use crate::contract::Context;
use crate::error::StageError;
use crate::model::{ChatModel, Reranker};
use crate::step::Step;

/// Candidates of another mode, put into a better order.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankSearch {
    /// The mode that gives the candidates.
    pub base: Box<SearchMode>,
    /// How many candidates it gives; `max(3 * top_k, 50)` when `None`.
    pub candidates: Option<u32>,
    /// Who orders them.
    pub by: RerankBy,
}

/// Who orders candidates.
#[derive(Debug, Clone, PartialEq)]
pub enum RerankBy {
    /// A cross-encoder.
    Endpoint(Arc<Reranker>),
    /// A chat model that is shown all candidates at once.
    Llm(Arc<ChatModel>),
    /// Overlap of terms; no model.
    Lexical,
}

impl RerankSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "rerank");
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        _context: &dyn Context,
        _kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        Err(StageError::encode(Step::Retrieve, "not merged yet"))
    }

    pub(super) fn calls_models(&self) -> bool {
        !matches!(self.by, RerankBy::Lexical) || self.base.calls_models()
    }
}
