//! Number retrieved.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// How many documents were retrieved. trec_eval adds these up over queries (`num_ret`); a report has their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumRet;

impl Measure for NumRet {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        ranking.grades.len() as f64
    }

    fn level(&self) -> i64 {
        1
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static NUM_RET: Definition = Definition {
    name: "NumRet",
    pretty: "Number Retrieved",
    description: "how many documents are retrieved",
    citation: None,
    higher_is_better: true,
    other_names: &["num_ret"],
    cutoff: CutoffRule::None,
    parameters: &[UNIT],
    code_version: 1,
    build: |identity| RetrievalEvaluator::build(identity, |_, _| Box::new(NumRet)),
};

#[cfg(test)]
mod tests {
    use super::super::judged_ranking::tests::value;
    use super::*;
    use crate::score::Qrels;

    #[test]
    fn by_hand() {
        let qrels: Qrels = [("a", 1), ("b", 2), ("c", 0)].into_iter().collect();
        assert_eq!(value(&NumRet, &["c", "a", "x"], &qrels), 3.0);
    }
}
