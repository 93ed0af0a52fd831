//! `evidence_mrr@k`: how early the first gold evidence is.
//!
//! 1 / rank of the first result that matches a piece, 0 where none of the first k does. With `match=text,text=unspaced` it is
//! `MRR@10` of MultiHop-RAG's own script (`retrieval_evaluate.py`).

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static EVIDENCE_MRR: Definition = Definition {
    name: "evidence_mrr",
    pretty: "Evidence Reciprocal Rank at k",
    description: "1 / rank of the first of k results that matches a piece of gold evidence",
    citation: Some("Voorhees. The TREC-8 Question Answering Track Report. TREC 1999."),
    higher_is_better: true,
    other_names: &["evidence_rr", "evidencemrr"],
    cutoff: CutoffRule::Default(10),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Pieces(reciprocal_rank)),
};

fn reciprocal_rank(findings: &Findings, _: Option<u32>) -> f64 {
    findings.ranks().min().map_or(0.0, |rank| 1.0 / f64::from(rank))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::evidence_evaluator::tests::value;

    #[test]
    fn the_first_rank_of_any_piece() {
        let evidence = json!([{"text": "gamma"}, {"text": "beta"}, {"text": "none"}]);
        let hits = json!([
            {"id": "1", "text": "x"}, {"id": "2", "text": "x"}, {"id": "3", "text": "beta"}, {"id": "4", "text": "gamma"},
        ]);
        let at = |k: u32| value(&format!("evidence_mrr@{k}"), evidence.clone(), hits.clone());
        assert_eq!([at(2), at(3), at(10)], [Some(0.0), Some(1.0 / 3.0), Some(1.0 / 3.0)]);
        assert_eq!(value("evidence_mrr", json!([]), hits), None);
    }
}
