//! `no-document-ids`: results that never say which document they are from, though retrieval is judged by that.

use super::known_documents::KnownDocuments;
use super::lint::{Cases, Lint};
use crate::aggregate::PlannedQuery;
use crate::artifact::Hit;
use crate::score::{EvaluatorSpec, evaluator};

/// The results of one query of one recipe.
#[derive(Default)]
pub(super) struct DocumentIds {
    named: bool,
    with_results: Cases,
}

impl DocumentIds {
    /// Looks at the results of a case.
    pub(super) fn see(&mut self, case_id: &str, hits: &[Hit], documents: &KnownDocuments<'_>) {
        if self.named || hits.is_empty() {
            return;
        }
        self.named = hits.iter().any(|hit| documents.is_named_by(hit));
        self.with_results.add(case_id);
    }

    /// What is wrong with the results of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        if self.named || self.with_results.count() == 0 || !planned.evaluators.iter().any(|name| reads_results(name)) {
            return None;
        }
        let PlannedQuery { recipe, query, .. } = planned;
        let message = format!(
            "{recipe} / {query}: no result names a document of the benchmark (as document_id or source_key), so gold that \
             names documents is never found"
        );
        Some(self.with_results.lint("no-document-ids", message))
    }
}

fn reads_results(name: &str) -> bool {
    EvaluatorSpec::parse(name).ok().and_then(|spec| evaluator(&spec).ok()).is_some_and(|own| own.reads().results)
}
