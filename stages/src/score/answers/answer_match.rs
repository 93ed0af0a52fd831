//! What the evaluators that compare answers by text share.

use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};
use crate::score::evaluator::{CaseView, ResponseView};
use crate::score::normal::normal_form;

const NO_GOLD: &str = "the case has no gold answers";

/// Passes when `rule` holds of the answer and any gold answer, both in normal form, answer first. No answer is an empty
/// one.
///
/// # Errors
/// On a blank gold answer, which every answer contains.
pub(crate) fn match_answers(
    case: &CaseView,
    response: &ResponseView,
    rule: impl Fn(&str, &str) -> bool,
) -> Result<Score, RowError> {
    let answers = &case.gold.answers;
    if answers.is_empty() {
        return Ok(Score::skipped(NO_GOLD));
    }
    let answer = normal_form(response.answer.unwrap_or_default());
    let mut matched: Vec<&str> = Vec::new();
    for (i, gold) in answers.iter().enumerate() {
        let normal = normal_form(gold);
        if normal.is_empty() {
            return Err(RowError::new(RowErrorKind::Evaluator, format!("gold answer {i} is blank")));
        }
        if rule(&answer, &normal) {
            matched.push(gold);
        }
    }
    Ok(matched_answers(matched))
}

/// Passes when `rule` holds of any gold answer as it stands.
pub(crate) fn match_any(case: &CaseView, rule: impl Fn(&str) -> bool) -> Score {
    let answers = &case.gold.answers;
    if answers.is_empty() {
        return Score::skipped(NO_GOLD);
    }
    matched_answers(answers.iter().map(String::as_str).filter(|gold| rule(gold)).collect())
}

fn matched_answers(matched: Vec<&str>) -> Score {
    let passed = !matched.is_empty();
    let detail = Json::from_iter([("matched_answers".to_string(), matched.into())]);
    Score::scored(ScoreValue::Bool(passed), Some(passed), detail)
}
