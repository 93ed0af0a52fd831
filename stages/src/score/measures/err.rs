//! Expected reciprocal rank.

use super::judged_ranking::JudgedRanking;
use super::measure::{GradeBound, Measure};
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

    fn bound(&self) -> Option<GradeBound> {
        Some(GradeBound { highest: self.max_grade, by: "(max_grade)" })
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
    code_version: 2,
    build: |identity| {
        let max_grade = identity.whole(MAX_GRADE.name);
        if max_grade > HIGHEST {
            return Err(format!(
                "option max_grade of ERR must be a whole number from 1 to {HIGHEST}, found {max_grade}"
            ));
        }
        RetrievalEvaluator::build(identity, |identity, _| {
            Box::new(ExpectedReciprocalRank { max_grade, cutoff: identity.cutoff })
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
        let bound = ExpectedReciprocalRank { max_grade: 2, cutoff: None }.bound().expect("a bound");
        let fault = |judged: &[(&str, i64)]| {
            let judgements = judged.iter().map(|(_, grade)| *grade).collect();
            bound.fault(&judgements, judged.iter().copied())
        };
        assert_eq!(fault(&[("a", 2), ("b", 0)]), None);
        let found = fault(&[("a", 3), ("b", 4), ("c", 4), ("d", 1)]);
        assert_eq!(found.as_deref(), Some("expected grades up to 2 (max_grade), found 4 of b"));
    }
}
