//! Precision.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT, VARIANT};
use crate::score::retrieval::RetrievalEvaluator;

/// The relevant documents among the first k, over k: a short ranking is not forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// k, from 1.
    pub cutoff: u32,
}

impl Measure for Precision {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let found = ranking.found(Some(self.cutoff), self.level);
        found as f64 / f64::from(self.cutoff.max(1))
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        Some(self.cutoff)
    }
}

pub(crate) static PRECISION: Definition = Definition {
    name: "P",
    pretty: "Precision at k",
    description: "share of the first k ranks that hold a relevant document",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworth, 1979."),
    higher_is_better: true,
    other_names: &["precision", "prec"],
    cutoff: CutoffRule::Required,
    parameters: &[REL, UNIT, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(Precision { level: identity.whole("rel"), cutoff: identity.cutoff.unwrap_or(1) })
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 2), ("c", 0)].into_iter().collect();
        let p = |level, cutoff| value(&Precision { level, cutoff }, &["c", "a", "b"], &qrels);
        assert_eq!(p(1, 1), 0.0);
        assert_eq!(p(1, 2), 0.5);
        assert_eq!(p(1, 4), 0.5);
        assert_eq!(p(2, 4), 0.25);
    }
}
