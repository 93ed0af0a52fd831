//! `supporting_facts_recall`: how many of the gold facts a response rests on.

use super::fact_evaluator::FactEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static SUPPORTING_FACTS_RECALL: Definition = Definition {
    name: "supporting_facts_recall",
    pretty: "Supporting Facts Recall",
    description: "share of the facts that the question needs which the response rests on",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["sp_recall"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(FactEvaluator::boxed(identity, |agreement| ScoreValue::Number(agreement.recall()))),
};
