//! Judged documents in a ranking.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// The judged documents among the first k, whatever their grade, over the number of those; 0 where nothing is retrieved. Where it
/// is low, unjudged documents decide the other measures. The divisor is that of ir-measures: a short ranking is no less judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// k, from 1.
    pub cutoff: u32,
}

impl Measure for Judged {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let counted = ranking.top(Some(self.cutoff));
        let judged = counted.iter().filter(|grade| grade.is_some()).count();
        judged as f64 / counted.len().max(1) as f64
    }

    fn level(&self) -> i64 {
        1
    }

    fn cutoff(&self) -> Option<u32> {
        Some(self.cutoff)
    }
}

pub(crate) static JUDGED: Definition = Definition {
    name: "Judged",
    pretty: "Judged at k",
    description: "share of the first k documents that are judged, with whatever grade",
    citation: Some("MacAvaney, Macdonald and Ounis. Streamlining evaluation with ir-measures. ECIR 2022."),
    higher_is_better: true,
    other_names: &["judged_percentage"],
    cutoff: CutoffRule::Required,
    parameters: &[UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(Judged { cutoff: identity.cutoff.unwrap_or(1) }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 0), ("c", -1)].into_iter().collect();
        let judged = |cutoff| value(&Judged { cutoff }, &["x", "b", "c", "a"], &qrels);
        assert_eq!((judged(1), judged(2), judged(4), judged(10)), (0.0, 0.5, 0.75, 0.75));
    }
}
