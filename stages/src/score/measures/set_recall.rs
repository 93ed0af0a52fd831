//! Recall of all that was retrieved.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The relevant documents among all retrieved, over all relevant documents (trec_eval `set_recall`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetRecall {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for SetRecall {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        match ranking.judgements.relevant(self.level) {
            0 => 0.0,
            relevant => ranking.found(None, self.level) as f64 / relevant as f64,
        }
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static SET_RECALL: Definition = Definition {
    name: "SetR",
    pretty: "Set Recall",
    description: "share of the relevant documents that are retrieved",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworth, 1979."),
    higher_is_better: true,
    other_names: &["set_recall"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(SetRecall { level: identity.whole("rel") }))
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
        let of = |level, ranking: &[&str]| value(&SetRecall { level }, ranking, &qrels);
        assert_eq!(of(1, &["c", "a", "x"]), 0.5);
        assert_eq!((of(2, &["a", "b"]), of(3, &["a"])), (1.0, 0.0));
    }
}
