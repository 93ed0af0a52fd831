//! `unjudged-heavy`: most of what is retrieved was never judged. Unjudged documents count as not relevant, so a measure is a lower bound
//! then and no score.

use std::borrow::Cow;

use super::lint::{Cases, Lint};
use crate::aggregate::PlannedQuery;
use crate::artifact::Gold;
use crate::score::Qrels;

/// How many ranks are looked at.
const RANKS: usize = 10;
/// Below this share of judged documents a measure is a lower bound.
const FLOOR: f64 = 0.5;

/// The rankings of one query of one recipe.
#[derive(Default)]
pub(super) struct UnjudgedHeavy {
    cases: Cases,
    judged: usize,
    ranked: usize,
    /// Whether anything is judged not relevant: where only relevant documents are known, all others are unjudged by design.
    pooled: bool,
}

impl UnjudgedHeavy {
    /// Looks at the ranked documents of a case with its gold.
    pub(super) fn see(&mut self, case_id: &str, gold: &Gold, documents: &[Cow<'_, str>]) {
        let Ok(qrels) = Qrels::of(gold) else { return };
        if qrels.is_empty() {
            return;
        }
        self.pooled |= qrels.judgements().nonrelevant(1) > 0;
        let top = documents.get(..RANKS).unwrap_or(documents);
        let judged = top.iter().filter(|document| qrels.grade(document).is_some()).count();
        self.judged += judged;
        self.ranked += top.len();
        if (judged as f64) < FLOOR * top.len() as f64 {
            self.cases.add(case_id);
        }
    }

    /// What is wrong with the rankings of `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery) -> Option<Lint> {
        let share = self.judged as f64 / self.ranked.max(1) as f64;
        if !self.pooled || self.ranked == 0 || share >= FLOOR {
            return None;
        }
        let PlannedQuery { recipe, query, .. } = planned;
        let message = format!(
            "{recipe} / {query}: {:.0} % of the first {RANKS} documents are judged; what is not counts as not relevant, so measures are \
             lower bounds",
            share * 100.0
        );
        Some(self.cases.lint("unjudged-heavy", message))
    }
}
