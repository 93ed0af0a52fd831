//! Normalised discounted cumulative gain.

use super::judged_ranking::JudgedRanking;
use super::measure::{GradeBound, Measure};
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind, UNIT, VARIANT};
use crate::score::retrieval::RetrievalEvaluator;

/// What a grade is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// The grade itself, as in trec_eval.
    Linear,
    /// 2^grade - 1 (Burges et al. 2005).
    Exponential,
}

impl Gain {
    /// The gain of a grade; negative grades gain nothing.
    fn of(self, grade: i64) -> f64 {
        match self {
            _ if grade <= 0 => 0.0,
            Gain::Linear => grade as f64,
            Gain::Exponential => (grade.min(HIGHEST_EXPONENT) as f64).exp2() - 1.0,
        }
    }
}

/// Beyond this 2^grade, or a sum of some of them, is infinite as a double; [`Measure::bound`] refuses such grades.
const HIGHEST_EXPONENT: i64 = 1000;

/// Discounted cumulative gain over that of the ideal ranking of all judged documents, discount 1 / log2(rank + 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ndcg {
    /// What a grade is worth. Every positive grade counts.
    pub gain: Gain,
    /// How many ranks count, in the ideal ranking too; `None`: all.
    pub cutoff: Option<u32>,
}

impl Measure for Ndcg {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let k = self.cutoff.map_or(usize::MAX, |k| k as usize);
        let ideal = self.dcg(ranking.judgements.positive().iter().copied().take(k));
        if ideal == 0.0 {
            return 0.0;
        }
        self.dcg(ranking.top(self.cutoff).iter().map(|grade| grade.unwrap_or(0))) / ideal
    }

    fn bound(&self) -> Option<GradeBound> {
        let bound = GradeBound { highest: HIGHEST_EXPONENT, by: "for the gain 2^grade - 1" };
        (self.gain == Gain::Exponential).then_some(bound)
    }

    fn level(&self) -> i64 {
        1
    }

    fn cutoff(&self) -> Option<u32> {
        self.cutoff
    }
}

impl Ndcg {
    fn dcg(&self, grades: impl Iterator<Item = i64>) -> f64 {
        // Not `sum`, which makes an empty ranking worth -0.
        grades.zip(2u32..).fold(0.0, |sum, (grade, discount)| sum + self.gain.of(grade) / f64::from(discount).log2())
    }
}

const GAIN: Parameter = Parameter {
    name: "gain",
    description: "what a grade is worth: the grade (trec_eval), or 2^grade - 1",
    kind: ParameterKind::Choice(&["linear", "exp"]),
};

pub(crate) static NDCG: Definition = Definition {
    name: "nDCG",
    pretty: "Normalized Discounted Cumulative Gain",
    description: "gains of the retrieved documents, discounted by rank, over those of the ideal ranking",
    citation: Some(
        "Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. ACM Transactions on Information Systems 20(4), 2002.",
    ),
    higher_is_better: true,
    other_names: &["dcg"],
    cutoff: CutoffRule::Optional,
    parameters: &[GAIN, UNIT, VARIANT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, heta| {
            let exponential = heta || identity.is("gain", "exp");
            let gain = if exponential { Gain::Exponential } else { Gain::Linear };
            Box::new(Ndcg { gain, cutoff: identity.cutoff })
        })
    },
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    fn qrels() -> Qrels {
        [("a", 3), ("b", 2), ("c", -1), ("d", 1)].into_iter().collect()
    }

    #[test]
    fn by_hand() {
        let linear = Ndcg { gain: Gain::Linear, cutoff: Some(3) };
        // Ideal: 3/1 + 2/log2(3) + 1/2; ranking b, x, a: 2/1 + 0 + 3/2.
        let ideal = 3.0 + 2.0 / 3f64.log2() + 0.5;
        assert!((value(&linear, &["b", "x", "a"], &qrels()) - 3.5 / ideal).abs() < 1e-12);
        let exponential = Ndcg { gain: Gain::Exponential, cutoff: Some(2) };
        let ideal = 7.0 + 3.0 / 3f64.log2();
        assert!((value(&exponential, &["b", "x", "a"], &qrels()) - 3.0 / ideal).abs() < 1e-12);
    }

    #[test]
    fn negative_grades_gain_nothing_and_short_rankings_do_not_lower_the_ideal() {
        let all = Ndcg { gain: Gain::Linear, cutoff: None };
        assert_eq!(value(&all, &["a", "b", "d"], &qrels()), 1.0);
        assert_eq!(value(&all, &["a", "b", "d", "c"], &qrels()), 1.0);
        assert!(value(&all, &["a"], &qrels()) < 1.0);
        assert_eq!(value(&all, &[], &qrels()).to_bits(), 0f64.to_bits());
        assert_eq!(value(&all, &["a"], &[("a", 0)].into_iter().collect()), 0.0);
    }

    #[test]
    fn absurd_grades_stay_finite() {
        let qrels = [("a", i64::MAX), ("b", i64::MAX)].into_iter().collect();
        for gain in [Gain::Linear, Gain::Exponential] {
            let found = value(&Ndcg { gain, cutoff: None }, &["x", "a"], &qrels);
            assert!((0.0..=1.0).contains(&found));
        }
    }
}
