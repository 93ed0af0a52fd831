//! The score of a case with several answers.

use serde_json::Value;

use crate::artifact::{Json, Score, ScoreState, ScoreValue};

/// One score of the scores of a case's answers, at least one, in their order. Its value is the mean of theirs (truth values
/// count as 1 and 0), or the label that most have, the first of them among equals; the case passed where every answer did.
/// Answers that were skipped are left out, and with all of them the case. The detail holds each answer's value and detail.
pub fn mean_score(scores: Vec<Score>) -> Score {
    let scored = || scores.iter().filter(|score| score.state == ScoreState::Scored);
    let values: Vec<&ScoreValue> = scored().filter_map(|score| score.value.as_ref()).collect();
    let Some(value) = common(&values) else {
        return scores.into_iter().next().unwrap_or_else(|| Score::skipped("there are no answers"));
    };
    let passed: Option<Vec<bool>> = scored().map(|score| score.passed).collect();
    let samples: Vec<Value> = scores.iter().map(sample).collect();
    let detail = Json::from_iter([("samples".to_string(), samples.into())]);
    let score = Score::scored(value, passed.map(|passed| passed.into_iter().all(|passed| passed)), detail);
    scores.iter().flat_map(|score| &score.usage).fold(score, Score::taking)
}

fn common(values: &[&ScoreValue]) -> Option<ScoreValue> {
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.number()).collect();
    if !numbers.is_empty() {
        return Some(ScoreValue::Number(numbers.iter().sum::<f64>() / numbers.len() as f64));
    }
    majority(values).map(|value| (*value).clone())
}

/// What most of `things` are; the first of equals.
pub(super) fn majority<T: PartialEq>(things: &[T]) -> Option<&T> {
    let count = |thing: &T| things.iter().filter(|other| *other == thing).count();
    // Of equals, `max_by_key` gives the last.
    things.iter().rev().max_by_key(|thing| count(thing))
}

fn sample(score: &Score) -> Value {
    let value = score.value.as_ref().map_or(Value::Null, ScoreValue::json);
    let mut sample = Json::from_iter([("value".to_string(), value)]);
    if let Some(passed) = score.passed {
        sample.insert("passed".to_string(), passed.into());
    }
    if let Some(reason) = &score.reason {
        sample.insert("reason".to_string(), reason.as_str().into());
    }
    if !score.detail.is_empty() {
        sample.insert("detail".to_string(), serde_json::to_value(&score.detail).unwrap_or_default());
    }
    Value::Object(sample)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scored(value: ScoreValue, passed: Option<bool>) -> Score {
        Score::scored(value, passed, Json::new())
    }

    #[test]
    fn numbers_and_truth_values_have_a_mean() {
        let score = mean_score(vec![
            scored(ScoreValue::Bool(true), Some(true)),
            scored(ScoreValue::Bool(false), Some(false)),
            scored(ScoreValue::Bool(true), Some(true)),
            scored(ScoreValue::Bool(true), Some(true)),
        ]);
        assert_eq!((score.value, score.passed), (Some(ScoreValue::Number(0.75)), Some(false)));
        assert_eq!(score.detail.get("samples").unwrap_or_default()[1], json!({"value": false, "passed": false}));
        let score = mean_score(vec![scored(ScoreValue::Number(0.25), None), scored(ScoreValue::Number(0.5), None)]);
        assert_eq!((score.value, score.passed), (Some(ScoreValue::Number(0.375)), None));
    }

    #[test]
    fn labels_have_a_majority() {
        let label = |text: &str| scored(ScoreValue::Label(text.to_string()), None);
        let of = |labels: &[&str]| mean_score(labels.iter().map(|text| label(text)).collect()).value;
        assert_eq!(of(&["b", "a", "a"]), Some(ScoreValue::Label("a".to_string())));
        assert_eq!(of(&["b", "a"]), Some(ScoreValue::Label("b".to_string())));
    }

    #[test]
    fn skipped_answers_are_left_out() {
        let score = mean_score(vec![Score::skipped("no gold"), Score::skipped("no gold")]);
        assert_eq!((score.state, score.reason.as_deref()), (ScoreState::Skipped, Some("no gold")));
        let score = mean_score(vec![Score::skipped("declined"), scored(ScoreValue::Number(1.0), None)]);
        assert_eq!((score.value, score.passed), (Some(ScoreValue::Number(1.0)), None));
        assert_eq!(score.detail.get("samples").unwrap_or_default()[0], json!({"value": null, "reason": "declined"}));
    }
}
