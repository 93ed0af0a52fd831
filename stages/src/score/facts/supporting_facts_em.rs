//! `supporting_facts_em`: whether a response rests on just the gold facts.

use super::fact_evaluator::FactEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static SUPPORTING_FACTS_EM: Definition = Definition {
    name: "supporting_facts_em",
    pretty: "Supporting Facts Exact Match",
    description: "whether the facts that the response rests on are just those that the question needs",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["sp_em", "supporting_fact_em"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(FactEvaluator::boxed(identity, |agreement| ScoreValue::Bool(agreement.is_exact()))),
};
