//! Rank-biased precision.

use super::judged_ranking::{JudgedRanking, is_relevant};
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The expected rate of relevant documents for a reader who looks at the next rank with probability p: the sum of
/// `(1 - p) p^(rank - 1)` over the relevant ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBiasedPrecision {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// The persistence, in [0, 1).
    pub persistence: f64,
    /// How many ranks count; `None`: all.
    pub cutoff: Option<u32>,
}

impl Measure for RankBiasedPrecision {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let mut weight = 1.0 - self.persistence;
        let mut sum = 0.0;
        for grade in ranking.top(self.cutoff) {
            if is_relevant(*grade, self.level) {
                sum += weight;
            }
            weight *= self.persistence;
        }
        sum
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        self.cutoff
    }
}

const P: Parameter = Parameter {
    name: "p",
    description: "the probability of looking at the next rank",
    kind: ParameterKind::Real { min: 0.0, max: 0.999_999, default: 0.8 },
};

pub(crate) static RBP: Definition = Definition {
    name: "RBP",
    pretty: "Rank-Biased Precision",
    description: "expected rate of relevant documents for a reader who goes on to the next rank with probability p",
    citation: Some(
        "Moffat and Zobel. Rank-biased precision for measurement of retrieval effectiveness. ACM Transactions on Information Systems 27(1), 2008.",
    ),
    higher_is_better: true,
    other_names: &["rank_biased_precision"],
    cutoff: CutoffRule::Optional,
    parameters: &[P, REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(RankBiasedPrecision {
                level: identity.whole("rel"),
                persistence: identity.real("p"),
                cutoff: identity.cutoff,
            })
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
        let rbp = |level, persistence, cutoff| {
            value(&RankBiasedPrecision { level, persistence, cutoff }, &["a", "c", "x", "b"], &qrels)
        };
        assert!((rbp(1, 0.8, None) - 0.2 * (1.0 + 0.8f64.powi(3))).abs() < 1e-12);
        assert!((rbp(1, 0.5, Some(3)) - 0.5).abs() < 1e-12);
        assert!((rbp(2, 0.5, None) - 0.5f64.powi(4)).abs() < 1e-12);
        assert_eq!(rbp(1, 0.0, None), 1.0);
    }
}
