//! `joint_precision`: the product of the answer's and the facts' precision.

use super::joint_evaluator::JointEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static JOINT_PRECISION: Definition = Definition {
    name: "joint_precision",
    pretty: "Joint Precision",
    description: "precision of the answer's words times precision of the facts that the response rests on",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["joint_prec"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(JointEvaluator::boxed(identity, |joint| ScoreValue::Number(joint.precision()))),
};
