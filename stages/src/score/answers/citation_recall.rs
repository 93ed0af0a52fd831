//! `citation_recall`: how much of the gold evidence the answer cites.

use super::citation_evaluator::CitationEvaluator;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static CITATION_RECALL: Definition = Definition {
    name: "citation_recall",
    pretty: "Citation Recall",
    description: "share of the pieces of gold evidence that a result which the answer cites holds; 0 where it cites none",
    citation: Some(
        "Gao, Yen, Yu and Chen. Enabling Large Language Models to Generate Text with Citations. EMNLP 2023.",
    ),
    higher_is_better: true,
    other_names: &["attribution_recall"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(CitationEvaluator::boxed(identity, |agreement| {
            Some(agreement.found.len() as f64 / agreement.expected as f64)
        }))
    },
};
