//! The judge of passages: which of those that were found are useful.

use serde_json::json;

use super::claims::{accepted, known_zero, numbered, verdicts_schema};
use super::judge_evaluator::JudgeOptions;
use super::prompts::ReplyForm;
use super::questions::{Question, Reply, ask};
use super::repeats::with_judgements;
use crate::artifact::{Json, Score, ScoreValue};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::score::evaluator::Scorable;
use crate::score::textless::{WITHOUT_TEXTS, are_textless};

/// A score for each of `responses`: the average over the useful passages of the share of useful ones down to their rank
/// (RAGAS, context precision); 0 where none is useful, and where nothing was found. A case without accepted answer is skipped.
pub(super) fn score(
    context: &dyn Context,
    options: &JudgeOptions,
    responses: &[Scorable<'_>],
) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let mut known: Vec<Option<Score>> = Vec::with_capacity(responses.len());
    let mut questions = Vec::new();
    for response in responses {
        if accepted(response).is_empty() {
            known.push(Some(Score::skipped("the case has no accepted answer")));
            continue;
        }
        if are_textless(response.response.results) {
            known.push(Some(Score::skipped(WITHOUT_TEXTS)));
            continue;
        }
        let texts = options.contexts.texts(response.response.results);
        if texts.is_empty() {
            known.push(Some(known_zero("nothing was retrieved")));
            continue;
        }
        known.push(None);
        let count = texts.len();
        let view = json!({
            "question": response.case.query, "gold": response.case.gold.answers.join(" | "),
            "passages": numbered(texts.into_iter()),
        });
        let question = Question {
            about: response,
            sample: 0,
            prompt: &options.prompt,
            view,
            form: ReplyForm::Passages(count),
            schema: Some(verdicts_schema("passage_verdicts", "passage", "useful", count)),
        };
        questions.extend(question.repeated(options));
    }
    let replies = ask(context, options, &questions)?;
    Ok(with_judgements(known, replies, options, judged))
}

fn judged(reply: &Reply) -> Score {
    let verdicts = reply.value["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let useful: Vec<bool> = verdicts.iter().map(|verdict| verdict["useful"] == true).collect();
    let detail = Json::from_iter([("passages".to_string(), verdicts.into()), ("reply".to_string(), json!(reply.chat))]);
    Score::scored(ScoreValue::Number(average_precision(&useful)), None, detail)
}

fn average_precision(useful: &[bool]) -> f64 {
    let (mut seen, mut sum) = (0_u32, 0.0);
    for (_, rank) in useful.iter().zip(1_u32..).filter(|(useful, _)| **useful) {
        seen += 1;
        sum += f64::from(seen) / f64::from(rank);
    }
    if seen == 0 { 0.0 } else { sum / f64::from(seen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_precision_is_that_of_the_useful_ranks() {
        for (useful, expected) in [
            (&[true, false, true][..], (1.0 + 2.0 / 3.0) / 2.0),
            (&[false, true], 0.5),
            (&[true, true], 1.0),
            (&[false, false], 0.0),
            (&[], 0.0),
        ] {
            assert_eq!(average_precision(useful), expected, "{useful:?}");
        }
    }
}
