//! Binary preference.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// How often judged nonrelevant documents stand above relevant ones, whatever is unjudged (trec_eval `bpref`): the mean over the R
/// relevant documents of `1 - min(n, R) / min(N, R)`, n the judged nonrelevant documents above and N all of them; 0 for those that
/// are not retrieved. Grades below 0 count as unjudged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bpref {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for Bpref {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let relevant = ranking.judgements.relevant(self.level);
        if relevant == 0 {
            return 0.0;
        }
        let bound = relevant.min(ranking.judgements.nonrelevant(self.level));
        let mut above = 0usize;
        let mut sum = 0.0;
        for grade in ranking.grades.iter().flatten().filter(|grade| **grade >= 0) {
            if *grade < self.level {
                above += 1;
            } else if above == 0 {
                sum += 1.0;
            } else {
                sum += 1.0 - above.min(relevant) as f64 / bound as f64;
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

pub(crate) static BPREF: Definition = Definition {
    name: "bpref",
    pretty: "Binary Preference",
    description: "how rarely judged nonrelevant documents stand above relevant ones; unjudged documents are left out",
    citation: Some("Buckley and Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004."),
    higher_is_better: true,
    other_names: &["binary_preference"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(Bpref { level: identity.whole("rel") }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 1), ("n", 0), ("m", 0), ("o", 0), ("p", -1)].into_iter().collect();
        // R 2, N 3: a has one nonrelevant document above it, b two.
        let bpref = |ranking: &[&str]| value(&Bpref { level: 1 }, ranking, &qrels);
        assert_eq!(bpref(&["x", "n", "a", "p", "m", "b"]), (0.5 + 0.0) / 2.0);
        assert_eq!(bpref(&["a", "x", "b"]), 1.0);
        assert_eq!(bpref(&["x", "p", "a"]), 0.5);
        assert_eq!(value(&Bpref { level: 2 }, &["a"], &qrels), 0.0);
    }
}
