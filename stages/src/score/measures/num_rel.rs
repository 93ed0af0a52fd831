//! Number relevant.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// How many documents are relevant. trec_eval adds these up over queries (`num_rel`); a report has their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumRel {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for NumRel {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        ranking.judgements.relevant(self.level) as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static NUM_REL: Definition = Definition {
    name: "NumRel",
    pretty: "Number Relevant",
    description: "how many documents are relevant",
    citation: None,
    higher_is_better: true,
    other_names: &["num_rel"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(NumRel { level: identity.whole("rel") }))
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
        assert_eq!(value(&NumRel { level: 1 }, &["c", "a", "x"], &qrels), 2.0);
    }
}
