//! `self-hit`: a result is the document of its own question. Whether it should count is a matter of the benchmark (ArguAna and
//! Quora leave it out).

use std::borrow::Cow;

use super::lint::{Cases, Lint, counted};
use crate::aggregate::PlannedQuery;

/// The rankings of one query of one recipe.
#[derive(Default)]
pub(super) struct SelfHit {
    cases: Cases,
}

impl SelfHit {
    /// Looks at the ranked documents of a case.
    pub(super) fn see(&mut self, case_id: &str, documents: &[Cow<'_, str>]) {
        if documents.iter().any(|document| document == case_id) {
            self.cases.add(case_id);
        }
    }

    /// What is wrong with the rankings of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        let PlannedQuery { recipe, query, .. } = planned;
        let of = counted(self.cases.count(), "case");
        let message =
            format!("{recipe} / {query}: the ranking of {of} holds the document with the id of the case; it is kept");
        (self.cases.count() > 0).then(|| self.cases.lint("self-hit", message))
    }
}
