//! `evidence_ndcg@k`: how early the results hold the gold evidence.
//!
//! The gain of a rank is the number of pieces that its result is the first to match: evidence that was there before gains
//! nothing. That is the gain of α-nDCG with α = 1, pieces of evidence for its nuggets (Clarke et al. 2008). The discount is
//! 1 / log2(rank + 1) (Järvelin and Kekäläinen 2002).
//!
//! With n pieces the sum is divided by that of an ideal ranking of min(n, k) results with one new piece each, which does not
//! depend on the chunks of any one system. A result that matches several pieces may do better than that; the value is 1 then.

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static EVIDENCE_NDCG: Definition = Definition {
    name: "evidence_ndcg",
    pretty: "Evidence nDCG at k",
    description: "pieces of gold evidence by the rank of the first result that matches them, over one new piece per rank",
    citation: Some(
        "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon. Novelty and diversity in information retrieval evaluation. SIGIR 2008.",
    ),
    higher_is_better: true,
    other_names: &["evidencendcg"],
    cutoff: CutoffRule::Default(5),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Pieces(ndcg)),
};

fn ndcg(findings: &Findings, cutoff: Option<u32>) -> f64 {
    let k = cutoff.map_or(usize::MAX, |k| k as usize);
    let mut ranks: Vec<u32> = findings.ranks().collect();
    // One order of summing for one set of ranks.
    ranks.sort_unstable();
    let ideal = discounted((1u32..).take(findings.pieces.len().min(k)));
    (discounted(ranks.into_iter()) / ideal).min(1.0)
}

fn discounted(ranks: impl Iterator<Item = u32>) -> f64 {
    ranks.fold(0.0, |sum, rank| sum + 1.0 / (f64::from(rank) + 1.0).log2())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::evidence_evaluator::tests::value;

    fn of(texts: &[&str], k: u32) -> f64 {
        let evidence = json!([{"text": "alpha"}, {"text": "beta"}, {"text": "gamma"}]);
        let hits: Vec<Value> = texts.iter().map(|text| json!({"id": "c", "text": text})).collect();
        value(&format!("evidence_ndcg@{k}"), evidence, json!(hits)).expect("a value")
    }

    #[test]
    fn by_hand() {
        let discount = |rank: f64| 1.0 / (rank + 1.0).log2();
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        let three = discount(1.0) + discount(2.0) + discount(3.0);
        close(of(&["alpha", "beta", "gamma"], 5), 1.0);
        // The second alpha gains nothing.
        close(of(&["x", "alpha", "alpha", "gamma"], 5), (discount(2.0) + discount(4.0)) / three);
        // Two pieces at the second rank.
        close(of(&["x", "beta alpha"], 5), 2.0 * discount(2.0) / three);
        // The ideal ranking is cut off too.
        close(of(&["alpha", "x"], 1), 1.0);
        close(of(&["x", "alpha"], 1), 0.0);
        close(of(&["alpha", "x"], 2), discount(1.0) / (discount(1.0) + discount(2.0)));
        // Better than one new piece per rank is no better than perfect.
        assert_eq!(of(&["gamma beta alpha"], 5), 1.0);
    }

    #[test]
    fn earlier_is_never_worse() {
        let values =
            [of(&["alpha", "x", "beta"], 5), of(&["x", "alpha", "beta"], 5), of(&["x", "beta", "x", "alpha"], 5)];
        assert!(values[0] > values[1] && values[1] > values[2]);
    }
}
