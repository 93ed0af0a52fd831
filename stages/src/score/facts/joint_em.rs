//! `joint_em`: whether the answer is right and rests on just the gold facts.

use super::joint_evaluator::JointEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static JOINT_EM: Definition = Definition {
    name: "joint_em",
    pretty: "Joint Exact Match",
    description: "whether the answer is a gold answer and the response rests on just the facts that the question needs",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["hotpot_joint_em"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(JointEvaluator::boxed(identity, |joint| ScoreValue::Bool(joint.is_exact()))),
};
