//! `evidence_recall@k`: how much of the gold evidence the first k results hold.

use super::evidence_evaluator::{EvidenceEvaluator, EvidenceValue};
use super::findings::Findings;
use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use crate::score::definition::{CutoffRule, Definition, VARIANT};

pub(crate) static EVIDENCE_RECALL: Definition = Definition {
    name: "evidence_recall",
    pretty: "Evidence Recall at k",
    description: "share of the pieces of gold evidence that one of the first k results matches",
    citation: None,
    higher_is_better: true,
    other_names: &["evidence", "context_recall", "evidencerecall"],
    cutoff: CutoffRule::Default(5),
    parameters: &[MATCH, MINIMUM, TEXT, THRESHOLD, VARIANT],
    code_version: 2,
    build: |identity| EvidenceEvaluator::build(identity, EvidenceValue::Pieces(recall)),
};

/// The share of the pieces that are found. There is at least one.
fn recall(findings: &Findings, _: Option<u32>) -> f64 {
    findings.ranks().count() as f64 / findings.pieces.len() as f64
}
