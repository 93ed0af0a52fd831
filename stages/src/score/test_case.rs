//! A case in unit tests of evaluators of answers.

use super::{CaseView, EvaluatorSpec, ResponseView, evaluator};
use crate::artifact::{Gold, Score};

/// The score that the evaluator `text` gives `answer` where `gold` is expected.
pub(super) fn score(text: &str, gold: &[&str], answer: &str) -> Score {
    let gold = Gold { answers: gold.iter().map(|text| text.to_string()).collect(), ..Gold::default() };
    score_of(text, &gold, Some(answer))
}

/// The same for gold of any kind, and where there may be no answer.
pub(super) fn score_of(text: &str, gold: &Gold, answer: Option<&str>) -> Score {
    let spec = EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let evaluator = evaluator(&spec).unwrap_or_else(|error| panic!("{error}"));
    let response = ResponseView::new(&[], answer, &[]);
    let case = CaseView { case_id: "q", query: "", gold };
    evaluator.evaluate(&case, &response).unwrap_or_else(|error| panic!("{error}"))
}
