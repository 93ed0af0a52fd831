//! Inferred average precision.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// Average precision estimated from judgements of a sample of the pool (trec_eval `infAP`). A document in the pool that was not
/// judged has the grade -2; what is unjudged or has the grade -1 was not in the pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InfAp {
    /// The least grade that counts as relevant.
    pub level: i64,
}

/// The grade of a document that is in the pool and was not judged (trec_eval's RELVALUE_UNJUDGED).
const UNSAMPLED: i64 = -2;
/// trec_eval's INFAP_EPSILON.
const EPSILON: f64 = 0.00001;

impl Measure for InfAp {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let relevant = ranking.judgements.relevant(self.level);
        if relevant == 0 {
            return 0.0;
        }
        let (mut found, mut nonrelevant, mut unsampled) = (0.0, 0.0, 0.0);
        let mut sum = 0.0;
        for (grade, above) in ranking.grades.iter().zip(0u32..) {
            let above = f64::from(above);
            match grade {
                Some(UNSAMPLED) => unsampled += 1.0,
                Some(grade) if *grade >= self.level => {
                    if above == 0.0 {
                        sum += 1.0;
                    } else {
                        // The chance that a document above is relevant, of those in the pool.
                        let pooled = (found + nonrelevant + unsampled) / above;
                        let precision = (found + EPSILON) / (found + nonrelevant + 2.0 * EPSILON);
                        sum += 1.0 / (above + 1.0) + above / (above + 1.0) * pooled * precision;
                    }
                    found += 1.0;
                }
                Some(0..) => nonrelevant += 1.0,
                _ => {}
            }
        }
        sum / relevant as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static INFAP: Definition = Definition {
    name: "infAP",
    pretty: "Inferred Average Precision",
    description: "average precision estimated from judgements of a sample of the pool",
    citation: Some(
        "Yilmaz and Aslam. Estimating average precision with incomplete and imperfect judgments. CIKM 2006.",
    ),
    higher_is_better: true,
    other_names: &["inferred_ap"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(InfAp { level: identity.whole("rel") }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 1), ("n", 0), ("s", UNSAMPLED), ("p", -1)].into_iter().collect();
        let ap = |ranking: &[&str]| value(&InfAp { level: 1 }, ranking, &qrels);
        // Fully judged it is average precision, but for epsilon.
        assert!((ap(&["a", "n", "b"]) - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-4);
        // At b: 1/4 + 3/4 x (2 of 3 above are pooled) x (1 of 2 judged are relevant, epsilon aside).
        let smoothed = (1.0 + EPSILON) / (1.0 + 2.0 * EPSILON);
        let expected = (1.0 + 0.25 + 0.75 * (2.0 / 3.0) * smoothed) / 2.0;
        assert!((ap(&["a", "s", "p", "b"]) - expected).abs() < 1e-12);
        assert_eq!(ap(&["x"]), 0.0);
    }
}
