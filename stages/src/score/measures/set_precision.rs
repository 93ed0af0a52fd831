//! Precision of all that was retrieved.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The relevant documents among all retrieved, over the number retrieved (trec_eval `set_P`); 0 where nothing is retrieved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetPrecision {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for SetPrecision {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        if ranking.grades.is_empty() {
            return 0.0;
        }
        ranking.found(None, self.level) as f64 / ranking.grades.len() as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static SET_PRECISION: Definition = Definition {
    name: "SetP",
    pretty: "Set Precision",
    description: "share of the retrieved documents that are relevant",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworth, 1979."),
    higher_is_better: true,
    other_names: &["set_p"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(SetPrecision { level: identity.whole("rel") }))
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
        let of = |level, ranking: &[&str]| value(&SetPrecision { level }, ranking, &qrels);
        assert_eq!(of(1, &["c", "a", "x", "b"]), 0.5);
        assert_eq!((of(2, &["a", "b"]), of(1, &[])), (0.5, 0.0));
    }
}
