//! `hybrid_search`: several modes, fused by reciprocal rank.

use std::collections::BTreeSet;

use ragstage_cache::KeyVisitor;

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::mode::SearchMode;
use super::searcher::Search;
use crate::contract::Context;
use crate::error::StageError;
use crate::step::Step;

/// Several modes, fused by reciprocal rank (Cormack, Clarke and Buettcher 2009).
#[derive(Debug, Clone, PartialEq)]
pub struct HybridSearch {
    /// The modes.
    pub parts: Vec<HybridPart>,
    /// The constant `k` in `weight / (k + rank)`; 60 in the paper.
    pub rrf_k: f64,
    /// How many candidates each mode gives; `max(3 * top_k, 50)` when `None`.
    pub candidates: Option<u32>,
}

/// A mode that is fused.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridPart {
    /// The mode.
    pub mode: SearchMode,
    /// How much its ranks count.
    pub weight: f64,
}

impl HybridSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.parts.iter().for_each(|part| part.mode.reads(artifacts));
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "hybrid");
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        _context: &dyn Context,
        _kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        Err(StageError::encode(Step::Retrieve, "not merged yet"))
    }
}
