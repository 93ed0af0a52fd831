//! `supporting_facts_precision`: how many of the facts that a response rests on are gold.

use super::fact_evaluator::FactEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static SUPPORTING_FACTS_PRECISION: Definition = Definition {
    name: "supporting_facts_precision",
    pretty: "Supporting Facts Precision",
    description: "share of the facts that the response rests on which the question needs",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["sp_prec", "sp_precision"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(FactEvaluator::boxed(identity, |agreement| ScoreValue::Number(agreement.precision()))),
};
