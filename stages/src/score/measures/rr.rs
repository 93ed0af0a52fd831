//! Reciprocal rank.

use super::judged_ranking::{JudgedRanking, is_relevant};
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT, VARIANT};
use crate::score::retrieval::RetrievalEvaluator;

/// 1 over the rank of the first relevant document; 0 where there is none among those that count. Its mean over cases is
/// MRR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReciprocalRank {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// How many ranks count; `None`: all.
    pub cutoff: Option<u32>,
}

impl Measure for ReciprocalRank {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let first = ranking.top(self.cutoff).iter().position(|grade| is_relevant(*grade, self.level));
        first.map_or(0.0, |position| 1.0 / (position + 1) as f64)
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        self.cutoff
    }
}

pub(crate) static RR: Definition = Definition {
    name: "RR",
    pretty: "Reciprocal Rank",
    description: "1 over the rank of the first relevant document; its mean over cases is MRR",
    citation: Some("Kantor and Voorhees. The TREC-5 Confusion Track. Information Retrieval 2(2-3), 2000."),
    higher_is_better: true,
    other_names: &["mrr", "reciprocal_rank", "recip_rank"],
    cutoff: CutoffRule::Optional,
    parameters: &[REL, UNIT, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(ReciprocalRank { level: identity.whole("rel"), cutoff: identity.cutoff })
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
        let rr = |level, cutoff| value(&ReciprocalRank { level, cutoff }, &["c", "x", "a", "b"], &qrels);
        assert_eq!(rr(1, None), 1.0 / 3.0);
        assert_eq!(rr(2, None), 0.25);
        assert_eq!(rr(1, Some(2)), 0.0);
        assert_eq!(rr(1, Some(3)), 1.0 / 3.0);
    }
}
