//! `rouge_1`, `rouge_2`: n-grams that answer and gold answer have in common.

use super::bag::common;
use super::rouge::{CITATION, PARAMETERS, Shared, build};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static ROUGE_1: Definition = Definition {
    name: "rouge_1",
    pretty: "ROUGE-1",
    description: "F-measure of the words that the answer shares with the gold answer, for the best gold answer",
    citation: Some(CITATION),
    higher_is_better: true,
    other_names: &["rouge1", "rouge-1", "rouge"],
    cutoff: CutoffRule::None,
    parameters: &PARAMETERS,
    code_version: 1,
    build: |identity| Ok(build(identity, |answer, gold| n_grams(answer, gold, 1))),
};

pub(crate) static ROUGE_2: Definition = Definition {
    name: "rouge_2",
    pretty: "ROUGE-2",
    description: "F-measure of the pairs of neighbouring words that the answer shares with the gold answer, for the best \
                  gold answer",
    citation: Some(CITATION),
    higher_is_better: true,
    other_names: &["rouge2", "rouge-2"],
    cutoff: CutoffRule::None,
    parameters: &PARAMETERS,
    code_version: 1,
    build: |identity| Ok(build(identity, |answer, gold| n_grams(answer, gold, 2))),
};

fn n_grams(answer: &[&str], gold: &[&str], n: usize) -> Shared {
    let (answer, gold) = (sorted(answer, n), sorted(gold, n));
    Shared { shared: common(&answer, &gold), answer: answer.len(), gold: gold.len() }
}

fn sorted<'t, 'a>(tokens: &'t [&'a str], n: usize) -> Vec<&'t [&'a str]> {
    let mut grams: Vec<&[&str]> = tokens.windows(n).collect();
    grams.sort_unstable();
    grams
}
