//! `evidence_precision@k`: how many of the first k results hold gold evidence.

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static EVIDENCE_PRECISION: Definition = Definition {
    name: "evidence_precision",
    pretty: "Evidence Precision at k",
    description: "share of the first k results that match a piece of gold evidence; a short list is not forgiven",
    citation: Some("van Rijsbergen. Information Retrieval. Butterworths, 2nd edition 1979."),
    higher_is_better: true,
    other_names: &["evidenceprecision"],
    cutoff: CutoffRule::Default(5),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Results(precision)),
};

/// Results that match, over k, as precision of documents has it. Each counts, though another matches the same piece.
fn precision(findings: &Findings, cutoff: Option<u32>) -> f64 {
    findings.matching.len() as f64 / f64::from(cutoff.unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::evidence_evaluator::tests::{score, value};

    #[test]
    fn every_result_that_matches_counts_and_the_divisor_is_k() {
        let evidence = json!([{"text": "high tide"}, {"text": "noon"}]);
        let hits = json!([
            {"id": "1", "text": "high tide at noon"},
            {"id": "2", "text": "low tide"},
            {"id": "3", "text": "noon"},
            {"id": "4", "text": "high tide"},
        ]);
        let at = |k: u32| value(&format!("evidence_precision@{k}"), evidence.clone(), hits.clone());
        assert_eq!([at(1), at(2), at(3), at(4)], [Some(1.0), Some(0.5), Some(2.0 / 3.0), Some(0.75)]);
        assert_eq!(at(5), Some(0.6));
        let detail = score("evidence_precision", evidence, hits).detail;
        assert_eq!(detail.get("matching_ranks"), Some(json!([1, 3, 4])));
        assert_eq!(detail.get("ranks"), Some(json!([1, 1])));
    }
}
