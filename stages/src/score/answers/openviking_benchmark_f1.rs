//! `openviking_benchmark_f1`: the F1 that OpenViking's benchmark reports (spec/openviking 5.4): that of `openviking_f1`, and 1
//! where answer and gold both say that there is no answer.

use super::answer_evaluator::AnswerEvaluator;
use super::refusal::openviking_agrees;
use super::token_overlap::OverlapRule;
use crate::artifact::{Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static OPENVIKING_BENCHMARK_F1: Definition = Definition {
    name: "openviking_benchmark_f1",
    pretty: "F1 of OpenViking's benchmark",
    description: "openviking_f1, and 1 where the answer refuses as a gold answer does",
    citation: None,
    higher_is_better: true,
    other_names: &["openviking_answer_f1"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(AnswerEvaluator::boxed(identity, |case, response| {
            let golds = &case.gold.answers;
            let answer = response.answer.unwrap_or_default();
            let best = OverlapRule::OPENVIKING.best(answer, golds, |overlap| overlap.f1);
            // Theirs counts a case without gold answers as 0.
            let f1 = best.map_or(0.0, |(overlap, _)| overlap.f1);
            let mut detail = Json::new();
            detail.insert("f1".to_string(), f1.into());
            let refused = openviking_agrees(answer, golds);
            if refused {
                detail.insert("refusal".to_string(), true.into());
            }
            Ok(Score::scored(ScoreValue::Number(if refused { 1.0 } else { f1 }), None, detail))
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::score::test_case::score;

    #[test]
    fn a_refusal_that_a_gold_answer_is_too_is_right() {
        let f1 = |gold: &[&str], answer: &str| {
            score("openviking_benchmark_f1", gold, answer).value.and_then(|value| value.number()).expect("a number")
        };
        assert_eq!(f1(&["Paris", "Not mentioned"], "That is unknown."), 1.0);
        assert_eq!(f1(&["Not mentioned"], "Paris"), 0.0);
        assert_eq!(f1(&["Paris"], "Not mentioned"), 0.0);
        assert_eq!(f1(&["salt and pepper"], "salt & pepper"), 1.0);
        assert_eq!(f1(&[], "Paris"), 0.0);
    }
}
