//! `joint_recall`: the product of the answer's and the facts' recall.

use super::joint_evaluator::JointEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static JOINT_RECALL: Definition = Definition {
    name: "joint_recall",
    pretty: "Joint Recall",
    description: "recall of the answer's words times recall of the facts that the response rests on",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["hotpot_joint_recall"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(JointEvaluator::boxed(identity, |joint| ScoreValue::Number(joint.recall()))),
};
