//! `token_recall`: how many of the gold answer's words are in the answer.

use super::token_overlap::{NORMAL, build};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static TOKEN_RECALL: Definition = Definition {
    name: "token_recall",
    pretty: "Token Recall",
    description: "share of the gold answer's words that are in the answer, for the gold answer where it is greatest",
    citation: Some(
        "Adlakha, BehnamGhader, Lu, Meade and Reddy. Evaluating Correctness and Faithfulness of Instruction-Following \
         Models for Question Answering. TACL 2024.",
    ),
    higher_is_better: true,
    other_names: &["answer_recall", "word_recall"],
    cutoff: CutoffRule::None,
    parameters: &[NORMAL],
    code_version: 1,
    build: |identity| Ok(build(identity, |overlap| overlap.recall)),
};
