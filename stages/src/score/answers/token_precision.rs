//! `token_precision`: how many of the answer's words are in the gold answer.

use super::token_overlap::{NORMAL, build};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static TOKEN_PRECISION: Definition = Definition {
    name: "token_precision",
    pretty: "Token Precision",
    description: "share of the answer's words that are in the gold answer, for the gold answer where it is greatest",
    citation: Some(
        "Rajpurkar, Zhang, Lopyrev and Liang. SQuAD: 100,000+ Questions for Machine Comprehension of Text. EMNLP 2016.",
    ),
    higher_is_better: true,
    other_names: &["answer_precision", "word_precision"],
    cutoff: CutoffRule::None,
    parameters: &[NORMAL],
    code_version: 1,
    build: |identity| Ok(build(identity, |overlap| overlap.precision)),
};
