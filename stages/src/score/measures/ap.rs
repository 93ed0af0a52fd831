//! Average precision.

use super::judged_ranking::{JudgedRanking, is_relevant};
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT, VARIANT};
use crate::score::retrieval::RetrievalEvaluator;

/// What the sum of precisions is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divisor {
    /// The number of relevant documents, as in trec_eval.
    Relevant,
    /// The smaller of that and the cut-off, as in Heta Evaluation.
    RelevantOrCutoff,
}

/// The mean of the precisions at the ranks of the relevant documents; 0 for those that are not retrieved. Its mean over
/// cases is MAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ap {
    /// The least grade that counts as relevant.
    pub level: i64,
    /// How many ranks count; `None`: all.
    pub cutoff: Option<u32>,
    /// What the sum is divided by.
    pub divisor: Divisor,
}

impl Measure for Ap {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let relevant = ranking.judgements.relevant(self.level);
        let divisor = match (self.divisor, self.cutoff) {
            (Divisor::RelevantOrCutoff, Some(k)) => relevant.min(k as usize),
            _ => relevant,
        };
        if divisor == 0 {
            return 0.0;
        }
        let mut found = 0.0;
        let mut sum = 0.0;
        for (grade, rank) in ranking.top(self.cutoff).iter().zip(1u32..) {
            if is_relevant(*grade, self.level) {
                found += 1.0;
                sum += found / f64::from(rank);
            }
        }
        sum / divisor as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        self.cutoff
    }
}

pub(crate) static AP: Definition = Definition {
    name: "AP",
    pretty: "Average Precision",
    description: "mean of the precisions at the ranks of the relevant documents; its mean over cases is MAP",
    citation: Some(
        "Harman. Evaluation issues in information retrieval. Information Processing and Management 28(4), 1992.",
    ),
    higher_is_better: true,
    other_names: &["map", "average_precision", "mean_average_precision"],
    cutoff: CutoffRule::Optional,
    parameters: &[REL, UNIT, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, heta| {
            let divisor = if heta { Divisor::RelevantOrCutoff } else { Divisor::Relevant };
            Box::new(Ap { level: identity.whole("rel"), cutoff: identity.cutoff, divisor })
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
        let qrels: Qrels = [("a", 1), ("b", 2), ("c", 1), ("d", 0)].into_iter().collect();
        let ranking = ["a", "d", "b", "x", "c"];
        let ap = |level, cutoff, divisor| value(&Ap { level, cutoff, divisor }, &ranking, &qrels);
        assert!((ap(1, None, Divisor::Relevant) - (1.0 + 2.0 / 3.0 + 3.0 / 5.0) / 3.0).abs() < 1e-12);
        assert!((ap(2, None, Divisor::Relevant) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(ap(1, Some(1), Divisor::Relevant), 1.0 / 3.0);
        assert_eq!(ap(1, Some(1), Divisor::RelevantOrCutoff), 1.0);
        assert_eq!(ap(3, None, Divisor::Relevant), 0.0);
    }
}
