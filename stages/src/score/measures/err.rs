//! Expected reciprocal rank.

use super::judged_ranking::{JudgedRanking, Judgements};
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The expectation of 1 over the rank at which a reader stops, who is satisfied by a document of grade g with the probability
/// `(2^g - 1) / 2^max_grade` and goes on otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedReciprocalRank {
    /// The highest grade of the judgements, from 1.
    pub max_grade: i64,
    /// How many ranks count; `None`: all.
    pub cutoff: Option<u32>,
}

impl Measure for ExpectedReciprocalRank {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let mut going_on = 1.0;
        let mut sum = 0.0;
        for (grade, rank) in ranking.top(self.cutoff).iter().zip(1u32..) {
            let grade = grade.unwrap_or(0).clamp(0, self.max_grade);
            let satisfied = ((grade as f64).exp2() - 1.0) / (self.max_grade as f64).exp2();
            sum += going_on * satisfied / f64::from(rank);
            going_on *= 1.0 - satisfied;
        }
        sum
    }

    fn check(&self, judgements: &Judgements) -> Result<(), String> {
        match judgements.positive().first() {
            Some(&highest) if highest > self.max_grade => {
                Err(format!("expected grades up to {} (max_grade), found {highest}", self.max_grade))
            }
            _ => Ok(()),
        }
    }

    fn level(&self) -> i64 {
        1
    }

    fn cutoff(&self) -> Option<u32> {
        self.cutoff
    }
}

/// Beyond this 2^max_grade is infinite as a double.
const HIGHEST: i64 = 1000;

const MAX_GRADE: Parameter = Parameter {
    name: "max_grade",
    description: "the highest grade of the judgements; 4 in gdeval",
    kind: ParameterKind::Whole { min: 1, default: 4 },
};

pub(crate) static ERR: Definition = Definition {
    name: "ERR",
    pretty: "Expected Reciprocal Rank",
    description: "expected reciprocal rank at which a reader is satisfied; a better document satisfies more readers",
    citation: Some("Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009."),
    higher_is_better: true,
    other_names: &["expected_reciprocal_rank"],
    cutoff: CutoffRule::Optional,
    parameters: &[MAX_GRADE, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(ExpectedReciprocalRank {
                max_grade: identity.whole("max_grade").min(HIGHEST),
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
        let qrels: Qrels = [("a", 1), ("b", 2), ("n", -1)].into_iter().collect();
        let err = |cutoff| value(&ExpectedReciprocalRank { max_grade: 2, cutoff }, &["a", "n", "b"], &qrels);
        // Satisfied by a with 1/4, by b with 3/4.
        assert!((err(None) - (0.25 + 0.75 * 0.75 / 3.0)).abs() < 1e-12);
        assert_eq!(err(Some(2)), 0.25);
        let gdeval = ExpectedReciprocalRank { max_grade: 4, cutoff: None };
        assert!((value(&gdeval, &["b"], &qrels) - 3.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn a_grade_beyond_the_highest_is_refused() {
        let measure = ExpectedReciprocalRank { max_grade: 2, cutoff: None };
        assert!(measure.check(&Judgements::from_iter([2, 0])).is_ok());
        let error = measure.check(&Judgements::from_iter([3])).expect_err("too high");
        assert_eq!(error, "expected grades up to 2 (max_grade), found 3");
    }
}
