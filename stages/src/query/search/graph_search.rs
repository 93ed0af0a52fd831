//! `graph_search`: entities and relations near the query, and the chunks that speak of them.

use std::collections::BTreeSet;

use ragstage_cache::KeyVisitor;

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::Search;
use crate::contract::Context;
use crate::error::StageError;
use crate::step::Step;

/// Entities and relations near the query, their neighbourhood, and the chunks that speak of it (spec/heta 7.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphSearch {}

impl GraphSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        artifacts.extend([KbArtifact::Chunks, KbArtifact::Entities, KbArtifact::Relations, KbArtifact::Mentions]);
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "graph");
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
