//! Precision.

use super::measure::Measure;
use crate::score::Qrels;
use crate::score::definition::{CutoffRule, Definition, REL, VARIANT};
use crate::score::ranking::top;
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
    fn value(&self, ranking: &[&str], qrels: &Qrels) -> f64 {
        let found = top(ranking, Some(self.cutoff)).iter().filter(|d| qrels.is_relevant(d, self.level)).count();
        found as f64 / f64::from(self.cutoff.max(1))
    }

    fn level(&self) -> i64 {
        self.level
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
    parameters: &[REL, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(Precision { level: identity.whole("rel"), cutoff: identity.cutoff.unwrap_or(1) })
        })
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 2), ("c", 0)].into_iter().collect();
        let p = |level, cutoff| Precision { level, cutoff }.value(&["c", "a", "b"], &qrels);
        assert_eq!(p(1, 1), 0.0);
        assert_eq!(p(1, 2), 0.5);
        assert_eq!(p(1, 4), 0.5);
        assert_eq!(p(2, 4), 0.25);
    }
}
