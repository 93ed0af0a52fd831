//! Success.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// 1 where a relevant document is among the first k, else 0. Dense-retrieval papers often call this recall, and others hit
/// rate; [`super::Recall`] is the share of the relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Success {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// k, from 1.
    pub cutoff: u32,
}

impl Measure for Success {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let found = ranking.found(Some(self.cutoff), self.level) > 0;
        f64::from(u8::from(found))
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        Some(self.cutoff)
    }
}

pub(crate) static SUCCESS: Definition = Definition {
    name: "Success",
    pretty: "Success at k",
    description: "whether a relevant document is among the first k (hit rate; some papers call it recall)",
    citation: None,
    higher_is_better: true,
    other_names: &["hit", "hits", "hit_rate", "hitrate", "accuracy"],
    cutoff: CutoffRule::Required,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(Success { level: identity.whole("rel"), cutoff: identity.cutoff.unwrap_or(1) })
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
        let qrels: Qrels = [("a", 1), ("b", 2)].into_iter().collect();
        let success = |level, cutoff| value(&Success { level, cutoff }, &["x", "a", "b"], &qrels);
        assert_eq!([success(1, 1), success(1, 2), success(2, 2), success(2, 3)], [0.0, 1.0, 0.0, 1.0]);
    }
}
