//! F1 of all that was retrieved.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The harmonic mean of set precision and set recall (trec_eval `set_F`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetF1 {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for SetF1 {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        // 2 PR / (P + R) with P = found / retrieved and R = found / relevant.
        let sides = ranking.grades.len() + ranking.judgements.relevant(self.level);
        match ranking.found(None, self.level) {
            0 => 0.0,
            found => 2.0 * found as f64 / sides as f64,
        }
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static SET_F1: Definition = Definition {
    name: "SetF1",
    pretty: "Set F1",
    description: "harmonic mean of precision and recall of all that was retrieved",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworth, 1979."),
    higher_is_better: true,
    other_names: &["set_f"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(SetF1 { level: identity.whole("rel") }))
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
        let of = |level, ranking: &[&str]| value(&SetF1 { level }, ranking, &qrels);
        // P 1/3, R 1/2.
        assert!((of(1, &["c", "a", "x"]) - 0.4).abs() < 1e-12);
        assert_eq!((of(1, &["a", "b"]), of(1, &["x"])), (1.0, 0.0));
    }
}
