//! `ties`: equal scores at the cut-off of a measure. Which of them count depends on the order of ties, which is a matter of chance.

use super::lint::{Cases, Lint, counted};
use crate::aggregate::PlannedQuery;
use crate::artifact::Hit;
use crate::score::{EvaluatorSpec, ties_at};

/// The rankings of one query of one recipe.
pub(super) struct Ties {
    /// The cut-offs of the evaluators, each once.
    cutoffs: Vec<u32>,
    cases: Cases,
}

impl Ties {
    /// At the cut-offs of what `planned` is scored by.
    pub(super) fn of(planned: &PlannedQuery) -> Self {
        let mut cutoffs: Vec<u32> =
            planned.evaluators.iter().filter_map(|text| EvaluatorSpec::parse(text).ok()?.cutoff).collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        Ties { cutoffs, cases: Cases::default() }
    }

    /// Looks at the results of a case.
    pub(super) fn see(&mut self, case_id: &str, hits: &[Hit]) {
        if self.cutoffs.iter().any(|cutoff| ties_at(hits, *cutoff)) {
            self.cases.add(case_id);
        }
    }

    /// What is wrong with the rankings of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        let PlannedQuery { recipe, query, .. } = planned;
        let of = counted(self.cases.count(), "case");
        let message = format!(
            "{recipe} / {query}: in {of} the results at a cut-off and after it have the same score, so the value depends on the order \
             of ties"
        );
        (self.cases.count() > 0).then(|| self.cases.lint("ties", message))
    }
}
