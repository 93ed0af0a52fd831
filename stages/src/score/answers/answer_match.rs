//! What the evaluators that compare answers by text share.

use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};
use crate::score::evaluator::{CaseView, ResponseView};
use crate::score::normal::normal_form;

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
        return Ok(Score::skipped("the case has no gold answers"));
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
    let passed = !matched.is_empty();
    let detail: Json = [("matched_answers".to_string(), matched.into())].into_iter().collect();
    Ok(Score::scored(ScoreValue::Bool(passed), Some(passed), detail))
}
