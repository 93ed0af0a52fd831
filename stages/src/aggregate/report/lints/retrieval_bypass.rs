//! `retrieval-bypass`: every document is retrieved for every question. Then nothing was retrieved, and a recall of 1 says nothing.

use std::borrow::Cow;

use super::lint::{Cases, Lint};
use crate::aggregate::PlannedQuery;

/// Below this many documents a knowledge base is no place to search in; one alone is read chunk by chunk.
const LEAST_DOCUMENTS: u64 = 2;
/// Below this many cases it may be chance.
const LEAST_CASES: u64 = 3;

/// The rankings of one query of one recipe.
#[derive(Default)]
pub(super) struct RetrievalBypass {
    all: Cases,
    others: u64,
}

impl RetrievalBypass {
    /// Looks at the ranked documents of a case whose unit has so many.
    pub(super) fn see(&mut self, case_id: &str, unit_documents: u64, documents: &[Cow<'_, str>]) {
        if unit_documents < LEAST_DOCUMENTS {
            return;
        }
        if documents.len() as u64 >= unit_documents { self.all.add(case_id) } else { self.others += 1 }
    }

    /// What is wrong with the rankings of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        if self.others > 0 || self.all.count() < LEAST_CASES {
            return None;
        }
        let PlannedQuery { recipe, query, .. } = planned;
        let message = format!(
            "{recipe} / {query}: every document of the knowledge base is among the results of every case, so retrieval was bypassed"
        );
        Some(self.all.lint("retrieval-bypass", message))
    }
}
