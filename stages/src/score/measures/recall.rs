//! Recall.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT, VARIANT};
use crate::score::retrieval::RetrievalEvaluator;

/// The relevant documents among the first k, over all relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// k, from 1.
    pub cutoff: u32,
}

impl Measure for Recall {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let relevant = ranking.judgements.relevant(self.level);
        if relevant == 0 {
            return 0.0;
        }
        let found = ranking.found(Some(self.cutoff), self.level);
        found as f64 / relevant as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        Some(self.cutoff)
    }
}

pub(crate) static RECALL: Definition = Definition {
    name: "R",
    pretty: "Recall at k",
    description: "share of the relevant documents that are among the first k",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworth, 1979."),
    higher_is_better: true,
    other_names: &["recall"],
    cutoff: CutoffRule::Required,
    parameters: &[REL, UNIT, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(Recall { level: identity.whole("rel"), cutoff: identity.cutoff.unwrap_or(1) })
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
        let qrels: Qrels = [("a", 1), ("b", 2), ("c", 0), ("d", 1)].into_iter().collect();
        let r = |level, cutoff| value(&Recall { level, cutoff }, &["c", "a", "b"], &qrels);
        assert_eq!(r(1, 1), 0.0);
        assert_eq!(r(1, 2), 1.0 / 3.0);
        assert_eq!(r(1, 9), 2.0 / 3.0);
        assert_eq!(r(2, 9), 1.0);
        assert_eq!(r(3, 9), 0.0);
    }
}
