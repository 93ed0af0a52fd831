//! `evidence_map@k`: how early all gold evidence is, as MultiHop-RAG's own script (`retrieval_evaluate.py`) computes `MAP@10`
//! with `match=text,text=unspaced`.
//!
//! For each of the first k ranks, the number of pieces that its result is the first to match, over the rank; the sum of these
//! over min(n, k) for n pieces. So each piece counts 1 / its first rank. That is *not* average precision, whose precision at a
//! rank counts what was found before too: two pieces at the ranks 1 and 2 are 0.75 here and 1 there. A paper's table is met
//! with this one. A case with more than k pieces, of which one result holds many, could exceed 1 in the script; it is 1 here.

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static EVIDENCE_MAP: Definition = Definition {
    name: "evidence_map",
    pretty: "Evidence MAP at k",
    description: "mean over the pieces of gold evidence of 1 / rank of the first of k results that matches it",
    citation: Some(
        "Tang and Yang. MultiHop-RAG: Benchmarking Retrieval-Augmented Generation for Multi-Hop Queries. COLM 2024.",
    ),
    higher_is_better: true,
    other_names: &["evidence_ap", "evidencemap"],
    cutoff: CutoffRule::Default(10),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Pieces(map)),
};

fn map(findings: &Findings, cutoff: Option<u32>) -> f64 {
    let k = cutoff.map_or(usize::MAX, |k| k as usize);
    let mut ranks: Vec<u32> = findings.ranks().collect();
    // One order of summing for one set of ranks.
    ranks.sort_unstable();
    let sum = ranks.into_iter().fold(0.0, |sum, rank| sum + 1.0 / f64::from(rank));
    (sum / findings.pieces.len().min(k) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::evidence_evaluator::tests::value;

    fn of(texts: &[&str], k: u32) -> f64 {
        let evidence = json!([{"text": "alpha"}, {"text": "beta"}, {"text": "gamma"}]);
        let hits: Vec<Value> = texts.iter().map(|text| json!({"id": "c", "text": text})).collect();
        value(&format!("evidence_map@{k}"), evidence, json!(hits)).expect("a value")
    }

    #[test]
    fn by_hand() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        // (1/1 + 1/2 + 1/3) / 3
        close(of(&["alpha", "beta", "gamma"], 10), 11.0 / 18.0);
        // A piece that was there before gains nothing: (1/2 + 1/4) / 3
        close(of(&["x", "alpha", "alpha", "gamma"], 10), 0.25);
        // Two at the second rank: (2/2) / 3
        close(of(&["x", "beta alpha"], 10), 1.0 / 3.0);
        // Beyond the cut-off nothing counts, and the divisor is min(3, k).
        close(of(&["alpha", "x", "beta"], 2), 0.5);
        close(of(&["x", "x"], 2), 0.0);
        close(of(&["alpha beta gamma"], 10), 1.0);
        assert_eq!(of(&["alpha beta gamma"], 1), 1.0, "no more than 1");
    }

    #[test]
    fn a_case_without_evidence_is_left_out() {
        assert_eq!(value("evidence_map", json!([]), json!([{"id": "c", "text": "alpha"}])), None);
    }
}
