//! `multihop_search`: another mode, asked in rounds until what was found suffices.

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

/// Another mode, asked in rounds until what was found suffices (spec/heta 7.3).
#[derive(Debug, Clone, PartialEq)]
pub struct MultihopSearch {
    /// The mode that is asked in each round.
    pub base: Box<SearchMode>,
    /// Most rounds.
    pub rounds: u32,
    /// Who judges what was found and plans the next round.
    pub planner: Planner,
}

/// Who judges what was found and plans the next round.
#[derive(Debug, Clone, PartialEq)]
pub enum Planner {
    /// A chat model.
    Llm(Arc<ChatModel>),
    /// Which terms of the query are not covered yet; no model.
    Lexical,
}

impl MultihopSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "multihop");
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
        matches!(self.planner, Planner::Llm(_)) || self.base.calls_models()
    }
}
