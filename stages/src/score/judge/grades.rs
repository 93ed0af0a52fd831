//! Judges that grade an answer in one reply: a number or a label.

use serde_json::{Value, json};

use super::claims::{accepted, known_zero, numbered};
use super::judge_evaluator::JudgeOptions;
use super::judge_kind::{JudgeKind, OpenVikingParse, OpenVikingScale};
use super::openviking_reply::parse_openviking_reply;
use super::prompts::{RUBRIC_CASE, ReplyForm};
use super::questions::{Question, Reply, ask};
use super::repeats::with_judgements;
use super::rubric::RubricScale;
use crate::artifact::{Json, Score, ScoreValue};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{Prompt, ReplySchema};
use crate::score::answers::openviking_agrees;
use crate::score::evaluator::Scorable;
use crate::score::textless::{WITHOUT_TEXTS, are_textless};

/// The greatest grade of our own judges; scores are grades divided by it.
const MOST: i64 = 4;
/// The least grade with which an answer passes: its main point is right.
const PASSES: i64 = 3;

/// A score for each of `responses`, by the one grade or label that the model replies.
pub(super) fn score(
    context: &dyn Context,
    kind: &JudgeKind,
    options: &JudgeOptions,
    responses: &[Scorable<'_>],
) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let prompt = match kind {
        JudgeKind::Rubric(rubric) if rubric.is_bare() => with_case(&options.prompt),
        _ => options.prompt.clone(),
    };
    let known: Vec<Option<Score>> = responses.iter().map(|response| known(kind, response)).collect();
    let (form, schema) = reply_of(kind);
    let mut questions = Vec::new();
    for (response, _) in responses.iter().zip(&known).filter(|(_, known)| known.is_none()) {
        let view = view(kind, options, response);
        let (form, schema) = (form.clone(), schema.clone());
        let question = Question { about: response, sample: 0, prompt: &prompt, view, form, schema };
        questions.extend(question.repeated(options));
    }
    let replies = ask(context, options, &questions)?;
    Ok(with_judgements(known, replies, options, |reply| judged(kind, reply)))
}

/// The score of a response of which nobody needs to be asked.
fn known(kind: &JudgeKind, response: &Scorable<'_>) -> Option<Score> {
    let golds = !accepted(response).is_empty();
    let answer = response.response.answer.unwrap_or_default();
    if matches!(kind, JudgeKind::OpenViking { refusals: true, .. })
        && openviking_agrees(answer, &response.case.gold.answers)
    {
        let detail = Json::from_iter([("refusal".to_string(), true.into())]);
        return Some(Score::scored(ScoreValue::Number(MOST as f64), Some(true), detail));
    }
    let answered = response.response.answer.is_some_and(|answer| !answer.trim().is_empty());
    let (needs_gold, needs_answer) = match kind {
        JudgeKind::Rubric(rubric) => (rubric.uses(&["gold", "golds"]), kind.reads().answer),
        JudgeKind::AnswerRelevance => (false, true),
        _ => (true, true),
    };
    let reads_passages = matches!(kind, JudgeKind::Rubric(_)) && kind.reads().results;
    if reads_passages && are_textless(response.response.results) {
        return Some(Score::skipped(WITHOUT_TEXTS));
    }
    match (needs_gold && !golds, needs_answer && !answered, kind) {
        (true, _, _) => Some(Score::skipped("the case has no accepted answer")),
        (_, true, JudgeKind::Rubric(_)) => Some(Score::skipped("the answer is empty")),
        (_, true, _) => Some(known_zero("the answer is empty")),
        _ => None,
    }
}

/// An instruction that uses nothing of the case, with the case after it.
fn with_case(instruction: &Prompt) -> Prompt {
    let text = instruction.text().trim_end();
    Prompt::new(&format!("{text}\n\n{RUBRIC_CASE}"))
}

fn view(kind: &JudgeKind, options: &JudgeOptions, response: &Scorable<'_>) -> Value {
    let question = response.case.query;
    let answer = response.response.answer.unwrap_or_default().trim();
    let golds = &response.case.gold.answers;
    match kind {
        JudgeKind::Rubric(_) => {
            let texts = options.contexts.texts(response.response.results);
            let lines: Vec<String> = texts.iter().zip(1..).map(|(text, number)| format!("[{number}] {text}")).collect();
            json!({
                "question": question, "answer": answer, "gold": golds.join(" | "), "golds": golds,
                "contexts": lines.join("\n"), "passages": numbered(texts.into_iter()),
            })
        }
        _ => json!({"question": question, "answer": answer, "gold": golds.join(" | ")}),
    }
}

/// What the reply must look like.
fn reply_of(kind: &JudgeKind) -> (ReplyForm, Option<ReplySchema>) {
    let grade = |values: String, noncommittal: bool, score: Value| {
        let mut properties = json!({"reasoning": {"type": "string"}, "score": score});
        let mut required = vec!["reasoning", "score"];
        if noncommittal {
            properties["noncommittal"] = json!({"type": "boolean"});
            required.insert(1, "noncommittal");
        }
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        (ReplyForm::Grade { values, noncommittal }, Some(ReplySchema { name: "grade", schema }))
    };
    let range = |min: i64, max: i64| json!({"type": "integer", "minimum": min, "maximum": max});
    let words = |min: i64, max: i64| format!("a whole number from {min} to {max}");
    match kind {
        JudgeKind::OpenViking { scale, parse, .. } => {
            let (form, schema) = match scale {
                OpenVikingScale::Graded => grade(words(0, MOST), false, range(0, MOST)),
                OpenVikingScale::Binary => {
                    grade("4 or 0".to_string(), false, json!({"type": "integer", "enum": [0, 4]}))
                }
            };
            // Who reads as OpenViking does must be given what OpenViking is given: any text.
            (form, schema.filter(|_| *parse == OpenVikingParse::Strict))
        }
        JudgeKind::Rubric(rubric) => match &rubric.scale {
            RubricScale::Number { min, max, .. } => grade(words(*min, *max), false, range(*min, *max)),
            RubricScale::Labels { labels, .. } => {
                let schema = json!({
                    "type": "object",
                    "properties": {"reasoning": {"type": "string"}, "label": {"type": "string", "enum": labels}},
                    "required": ["reasoning", "label"],
                    "additionalProperties": false,
                });
                (ReplyForm::Label(labels.clone()), Some(ReplySchema { name: "label", schema }))
            }
        },
        JudgeKind::AnswerRelevance => grade(words(0, MOST), true, range(0, MOST)),
        _ => grade(words(0, MOST), false, range(0, MOST)),
    }
}

fn judged(kind: &JudgeKind, reply: &Reply) -> Score {
    let mut detail = Json::from_iter([("reply".to_string(), json!(reply.chat))]);
    if let JudgeKind::OpenViking { scale, parse: OpenVikingParse::OpenViking, .. } = kind {
        let read = parse_openviking_reply(*scale, Some(&reply.chat.text));
        detail.insert("parsed_by".to_string(), read.parsed_by.name().into());
        detail.insert("reasoning".to_string(), read.reasoning.unwrap_or_default());
        return Score::scored(ScoreValue::Number(read.score as f64), Some(read.score >= PASSES), detail);
    }
    let value = &reply.value;
    detail.insert("reasoning".to_string(), value["reasoning"].clone());
    if let JudgeKind::Rubric(rubric) = kind
        && let RubricScale::Labels { passes, .. } = &rubric.scale
    {
        let label = value["label"].as_str().unwrap_or_default().to_string();
        let passed = (!passes.is_empty()).then(|| passes.contains(&label));
        return Score::scored(ScoreValue::Label(label), passed, detail);
    }
    let grade = value["score"].as_i64().unwrap_or_default();
    let (number, passed) = match kind {
        JudgeKind::Rubric(rubric) => {
            let passed = match &rubric.scale {
                RubricScale::Number { passes: Some(least), .. } if rubric.higher_is_better => Some(grade >= *least),
                RubricScale::Number { passes: Some(most), .. } => Some(grade <= *most),
                _ => None,
            };
            (grade as f64, passed)
        }
        JudgeKind::OpenViking { .. } => (grade as f64, Some(grade >= PASSES)),
        JudgeKind::AnswerRelevance => {
            let noncommittal = value["noncommittal"] == true;
            detail.insert("noncommittal".to_string(), noncommittal.into());
            let counted = if noncommittal { 0 } else { grade };
            (counted as f64 / MOST as f64, Some(counted >= PASSES))
        }
        _ => (grade as f64 / MOST as f64, Some(grade >= PASSES)),
    };
    detail.insert("grade".to_string(), grade.into());
    Score::scored(ScoreValue::Number(number), passed, detail)
}
