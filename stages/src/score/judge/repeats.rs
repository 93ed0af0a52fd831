//! One score of several judgements on the same response.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::judge_evaluator::JudgeOptions;
use super::questions::Reply;
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::RowError;
use crate::score::sample_scores::majority;

/// A score for each of `known`: itself, or where there is none what `judged` makes of the next of `replies`, as many as there
/// are judgements on a response.
pub(super) fn with_judgements(
    known: Vec<Option<Score>>,
    replies: Vec<Result<Reply, RowError>>,
    options: &JudgeOptions,
    judged: impl Fn(&Reply) -> Score,
) -> Vec<Result<Score, RowError>> {
    let mut replies = replies.into_iter();
    let judged = |reply: Result<Reply, RowError>| reply.map(|reply| judged(&reply).taking(&reply.usage));
    let score = |known: Option<Score>| match known {
        Some(score) => Ok(score),
        None => combined(replies.by_ref().take(options.judgements() as usize).map(judged).collect()),
    };
    known.into_iter().map(score).collect()
}

/// The score of the judgements on one response, at least one, in their order: the mean of numbers, the label that most say (the
/// first said of equals). It passed where more than half did. The detail holds every judgement, and under `consistency` how far
/// they agree: the share of pairs that say the same, and the spread of numbers. Any that failed fails all.
pub(super) fn combined(judgements: Vec<Result<Score, RowError>>) -> Result<Score, RowError> {
    let mut scores = judgements.into_iter().collect::<Result<Vec<Score>, RowError>>()?;
    if scores.len() == 1 {
        return Ok(scores.remove(0));
    }
    let values: Vec<&ScoreValue> = scores.iter().filter_map(|score| score.value.as_ref()).collect();
    if values.len() < scores.len() || values.is_empty() {
        // What is skipped is skipped before anybody is asked, and then in each judgement.
        return Ok(scores.into_iter().next().unwrap_or_else(|| Score::skipped("nobody was asked")));
    }
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.number()).collect();
    let words: Vec<String> = values.iter().map(|value| value.text()).collect();
    let mut consistency = Json::from_iter([("same".to_string(), json!(same_pairs(&words)))]);
    let value = if numbers.len() == values.len() {
        let (least, most) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        consistency.insert("min".to_string(), json!(least));
        consistency.insert("max".to_string(), json!(most));
        ScoreValue::Number(numbers.iter().sum::<f64>() / numbers.len() as f64)
    } else {
        ScoreValue::Label(majority(&words).cloned().unwrap_or_default())
    };
    let passed: Option<Vec<bool>> = scores.iter().map(|score| score.passed).collect();
    let passed = passed.map(|passed| 2 * passed.iter().filter(|passed| **passed).count() > passed.len());
    let judgements: Vec<Value> = scores
        .iter()
        .zip(values)
        .map(|(score, value)| json!({"value": value.json(), "passed": score.passed, "detail": score.detail}))
        .collect();
    let detail = Json::from_iter([
        ("judgements".to_string(), judgements.into()),
        ("consistency".to_string(), Value::Object(consistency)),
    ]);
    let usage = scores.iter().flat_map(|score| &score.usage);
    Ok(usage.fold(Score::scored(value, passed, detail), Score::taking))
}

/// The share of pairs of equal words.
fn same_pairs(words: &[String]) -> f64 {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let pairs = |count: u64| count * count.saturating_sub(1) / 2;
    let all = pairs(words.len() as u64).max(1);
    counts.values().map(|count| pairs(*count)).sum::<u64>() as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RowErrorKind;

    fn scored(value: ScoreValue, passed: bool) -> Result<Score, RowError> {
        Ok(Score::scored(value, Some(passed), Json::new()))
    }

    #[test]
    fn numbers_have_a_mean_and_labels_a_majority() {
        let number = |value: f64| scored(ScoreValue::Number(value), value > 0.5);
        let score = combined(vec![number(1.0), number(0.5), number(1.0)]).expect("a score");
        assert_eq!((score.value, score.passed), (Some(ScoreValue::Number(2.5 / 3.0)), Some(true)));
        assert_eq!(
            score.detail.get("consistency").unwrap_or_default(),
            json!({"same": 1.0 / 3.0, "min": 0.5, "max": 1.0})
        );
        assert_eq!(
            score.detail.get("judgements").unwrap_or_default()[1],
            json!({"value": 0.5, "passed": false, "detail": {}})
        );
        let label = |text: &str| scored(ScoreValue::Label(text.to_string()), false);
        let score = combined(vec![label("rude"), label("kind"), label("kind"), label("rude")]).expect("a score");
        assert_eq!(score.value, Some(ScoreValue::Label("rude".to_string())));
        assert_eq!(score.detail.get("consistency").unwrap_or_default(), json!({"same": 2.0 / 6.0}));
    }

    #[test]
    fn one_judgement_is_itself_and_a_failed_one_fails_all() {
        let one = scored(ScoreValue::Number(1.0), true);
        assert_eq!(combined(vec![one.clone()]), one);
        let error = RowError::new(RowErrorKind::BadReply, "prose");
        assert_eq!(combined(vec![one, Err(error.clone())]), Err(error));
        assert_eq!(combined(vec![Ok(Score::skipped("no gold")); 2]), Ok(Score::skipped("no gold")));
    }
}
