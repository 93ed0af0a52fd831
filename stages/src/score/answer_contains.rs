//! `answer_contains`: a gold answer is a substring of the answer (spec/heta 5.3). There are no word boundaries: `no` is in
//! `unknown`, and `380` in `1380`.

use super::answer_evaluator::AnswerEvaluator;
use super::answer_match::match_answers;
use super::definition::{CutoffRule, Definition};

pub(crate) static ANSWER_CONTAINS: Definition = Definition {
    name: "answer_contains",
    pretty: "Answer Contains",
    description: "whether the answer contains a gold answer, letter case and runs of whitespace aside",
    citation: None,
    higher_is_better: true,
    other_names: &["contains", "substring_match"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(AnswerEvaluator::boxed(identity, |case, response| {
            match_answers(case, response, |answer, gold| answer.contains(gold))
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Gold, ScoreState, ScoreValue};
    use crate::score::{CaseView, EvaluatorSpec, ResponseView, evaluator};

    fn passed(name: &str, gold: &[&str], answer: Option<&str>) -> Option<bool> {
        let spec = EvaluatorSpec::parse(name).unwrap_or_else(|error| panic!("{error}"));
        let evaluator = evaluator(&spec).unwrap_or_else(|error| panic!("{error}"));
        let gold = Gold { answers: gold.iter().map(|text| text.to_string()).collect(), ..Gold::default() };
        let response = ResponseView { results: &[], answer, citations: &[] };
        let score = evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).ok()?;
        assert_eq!(score.value, score.passed.map(ScoreValue::Bool));
        assert_eq!(score.state == ScoreState::Skipped, score.passed.is_none());
        score.passed
    }

    #[test]
    fn containing_and_being() {
        let both = |gold: &[&str], answer| {
            (passed("answer_contains", gold, answer), passed("answer_exact_match", gold, answer))
        };
        assert_eq!(both(&["Lisbon"], Some(" LISBON\n")), (Some(true), Some(true)));
        assert_eq!(both(&["Porto", "New  York"], Some("It is new york.")), (Some(true), Some(false)));
        assert_eq!(both(&["no"], Some("unknown")), (Some(true), Some(false)));
        assert_eq!(both(&["Groß"], Some("GROSS")), (Some(true), Some(true)));
        assert_eq!(both(&["Lisbon"], None), (Some(false), Some(false)));
        assert_eq!(both(&["Lisbon"], Some("")), (Some(false), Some(false)));
    }

    #[test]
    fn no_gold_is_skipped_and_blank_gold_is_an_error() {
        assert_eq!(passed("answer_contains", &[], Some("Lisbon")), None);
        let gold = Gold { answers: vec!["ok".into(), " ".into()], ..Gold::default() };
        let response = ResponseView { results: &[], answer: Some("ok"), citations: &[] };
        let error = match_answers(&CaseView { case_id: "q", query: "", gold: &gold }, &response, |_, _| true);
        assert_eq!(error.expect_err("blank gold").message, "gold answer 1 is blank");
    }
}
