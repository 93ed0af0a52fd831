//! `citation_precision`: how many of the cited results hold gold evidence.

use super::citation_evaluator::CitationEvaluator;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static CITATION_PRECISION: Definition = Definition {
    name: "citation_precision",
    pretty: "Citation Precision",
    description: "share of the results that the answer cites that hold gold evidence; an answer that cites none is skipped",
    citation: Some(
        "Gao, Yen, Yu and Chen. Enabling Large Language Models to Generate Text with Citations. EMNLP 2023.",
    ),
    higher_is_better: true,
    other_names: &["citation_accuracy", "attribution_precision"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(CitationEvaluator::boxed(identity, |agreement| {
            (agreement.cited > 0).then(|| agreement.supported as f64 / agreement.cited as f64)
        }))
    },
};
