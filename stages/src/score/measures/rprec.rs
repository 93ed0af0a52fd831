//! R-precision.

use super::judged_ranking::JudgedRanking;
use super::measure::Measure;
use crate::score::definition::{CutoffRule, Definition, REL, UNIT};
use crate::score::retrieval::RetrievalEvaluator;

/// Precision at R, the number of relevant documents; 0 where there are none (trec_eval `Rprec`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RPrecision {
    /// The least grade that counts as relevant.
    pub level: i64,
}

impl Measure for RPrecision {
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64 {
        let relevant = ranking.judgements.relevant(self.level);
        if relevant == 0 {
            return 0.0;
        }
        let counted = u32::try_from(relevant).unwrap_or(u32::MAX);
        ranking.found(Some(counted), self.level) as f64 / relevant as f64
    }

    fn level(&self) -> i64 {
        self.level
    }

    fn cutoff(&self) -> Option<u32> {
        None
    }
}

pub(crate) static RPREC: Definition = Definition {
    name: "Rprec",
    pretty: "R-Precision",
    description: "precision at as many ranks as there are relevant documents",
    citation: Some(
        "Buckley and Voorhees. Retrieval System Evaluation. In: TREC: Experiment and Evaluation in Information Retrieval. MIT Press, 2005.",
    ),
    higher_is_better: true,
    other_names: &["rprec", "r_precision"],
    cutoff: CutoffRule::None,
    parameters: &[REL, UNIT],
    code_version: 1,
    build: |identity| {
        RetrievalEvaluator::build(identity, |identity, _| Box::new(RPrecision { level: identity.whole("rel") }))
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
        let rprec = |level, ranking: &[&str]| value(&RPrecision { level }, ranking, &qrels);
        assert_eq!(rprec(1, &["a", "d", "b", "c"]), 2.0 / 3.0);
        assert_eq!(rprec(2, &["a", "b"]), 0.0);
        assert_eq!((rprec(1, &["a"]), rprec(3, &["a"])), (1.0 / 3.0, 0.0));
    }
}
