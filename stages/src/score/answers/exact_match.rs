//! `answer_exact_match`: the answer is a gold answer (spec/heta 5.3). Punctuation and articles count.

use super::answer_evaluator::AnswerEvaluator;
use super::answer_match::match_answers;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static ANSWER_EXACT_MATCH: Definition = Definition {
    name: "answer_exact_match",
    pretty: "Answer Exact Match",
    description: "whether the answer is a gold answer, letter case and runs of whitespace aside",
    citation: None,
    higher_is_better: true,
    other_names: &["exact_match", "em"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(AnswerEvaluator::boxed(identity, |case, response| {
            match_answers(case, response, |answer, gold| answer == gold)
        }))
    },
};
