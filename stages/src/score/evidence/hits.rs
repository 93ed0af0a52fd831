//! `evidence_hits@k`: whether the first k results hold any gold evidence.
//!
//! With `match=text,text=unspaced` it is `Hits@k` of MultiHop-RAG's own script (`retrieval_evaluate.py`), from which the tables
//! of its paper are: a question is a hit when the text of one gold fact, white space aside, is within one of the first k
//! results. The paper's words for it, "the fraction of evidence that appears in the top-K", are those of
//! [`EVIDENCE_RECALL`](super::EVIDENCE_RECALL).

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static EVIDENCE_HITS: Definition = Definition {
    name: "evidence_hits",
    pretty: "Evidence Hits at k",
    description: "whether one of the first k results matches a piece of gold evidence",
    citation: Some(
        "Tang and Yang. MultiHop-RAG: Benchmarking Retrieval-Augmented Generation for Multi-Hop Queries. COLM 2024.",
    ),
    higher_is_better: true,
    other_names: &["evidence_hit", "evidence_success", "evidencehits"],
    cutoff: CutoffRule::Default(10),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Pieces(hits)),
};

fn hits(findings: &Findings, _: Option<u32>) -> f64 {
    if findings.ranks().next().is_some() { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::evidence_evaluator::tests::value;

    #[test]
    fn one_piece_within_the_cutoff_is_enough() {
        let evidence = json!([{"text": "high tide"}, {"text": "noon"}]);
        let hits = json!([{"id": "1", "text": "low"}, {"id": "2", "text": "x"}, {"id": "3", "text": "at noon"}]);
        let of = |text: &str| value(text, evidence.clone(), hits.clone());
        assert_eq!(
            [of("evidence_hits@2"), of("evidence_hits@3"), of("evidence_hits")],
            [Some(0.0), Some(1.0), Some(1.0)]
        );
        assert_eq!(value("evidence_hits", json!([]), hits), None, "a question without evidence is left out");
    }

    #[test]
    fn as_the_script_compares_texts() {
        let hits = json!([{"id": "1", "text": "The harbour\nclosed at  noon."}]);
        let of = |fact: &str| value("evidence_hits(match=text,text=unspaced)@4", json!([{"text": fact}]), hits.clone());
        assert_eq!(of("The har bour closed at\nnoon"), Some(1.0));
        assert_eq!(of("the harbour closed"), Some(0.0), "letter case counts");
        assert_eq!(of("The harbour closed at noon. So it did"), Some(0.0), "a part of the fact is no fact");
    }
}
