//! `rewrite_search`: another mode, asked with several wordings.

use std::collections::BTreeSet;
use std::sync::Arc;

use ragstage_cache::KeyVisitor;

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::mode::SearchMode;
use super::searcher::Search;
use crate::contract::Context;
use crate::error::StageError;
use crate::model::ChatModel;
use crate::step::Step;

/// Another mode, asked with several wordings of the query, fused.
#[derive(Debug, Clone, PartialEq)]
pub struct RewriteSearch {
    /// The mode that is asked.
    pub base: Box<SearchMode>,
    /// How many wordings beside the query itself.
    pub variants: u32,
    /// Who finds them.
    pub by: Rewriter,
    /// The constant of the fusion.
    pub rrf_k: f64,
}

/// Who finds other wordings.
#[derive(Debug, Clone, PartialEq)]
pub enum Rewriter {
    /// A chat model.
    Llm(Arc<ChatModel>),
    /// Parts of the query and its rarer terms; no model.
    Lexical,
}

impl RewriteSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "rewrite");
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
        matches!(self.by, Rewriter::Llm(_)) || self.base.calls_models()
    }
}
