//! `duplicate-hits`: a ranking that holds one result twice. The second takes a place that another result should have.

use std::collections::HashSet;

use super::lint::{Cases, Lint, counted};
use crate::aggregate::PlannedQuery;
use crate::artifact::Hit;

/// The rankings of one query of one recipe.
#[derive(Default)]
pub(super) struct DuplicateHits {
    cases: Cases,
    example: Option<String>,
}

impl DuplicateHits {
    /// Looks at the results of a case. Passages of one document are not the same result.
    pub(super) fn see(&mut self, case_id: &str, hits: &[Hit]) {
        let mut seen = HashSet::with_capacity(hits.len());
        if let Some(twice) = hits.iter().find(|hit| !hit.id.is_empty() && !seen.insert(hit.id.as_str())) {
            self.cases.add(case_id);
            self.example.get_or_insert_with(|| twice.id.clone());
        }
    }

    /// What is wrong with the rankings of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        let PlannedQuery { recipe, query, .. } = planned;
        let of = counted(self.cases.count(), "case");
        let message =
            format!("{recipe} / {query}: the ranking of {of} holds a result twice, such as {:?}", self.example?);
        Some(self.cases.lint("duplicate-hits", message))
    }
}
