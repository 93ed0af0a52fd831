//! `vector_search`: the chunks nearest to the query.

use std::collections::BTreeSet;

use ragstage_cache::KeyVisitor;

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::Search;
use crate::contract::Context;
use crate::error::StageError;
use crate::step::Step;

/// The chunks whose vectors are nearest to the query's. It has no options of its own: embedder and metric are the recipe's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VectorSearch;

impl VectorSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        artifacts.extend([KbArtifact::Chunks, KbArtifact::VectorIndex]);
    }

    pub(super) fn walk(&self, name: &str, _kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "vector");
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
