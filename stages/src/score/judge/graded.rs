//! Judges that grade a response with one call: `answer_relevance`, `correctness`, `openviking` and rubrics of the user's own.

use serde_json::{Value, json};

use super::entailment::no_reply;
use super::judge_kind::{JudgeKind, OpenVikingScale};
use super::openviking_reply::parse_openviking_reply;
use super::panel::{Ask, Panel, Reply};
use super::rubric::{Rubric, graded_schema};
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, StageError};
use crate::score::Scorable;

/// The greatest grade of the judges of ours.
const MOST: f64 = 4.0;

/// A score or an error for each of `responses`.
pub(super) fn score(panel: &Panel<'_>, responses: &[Scorable<'_>]) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let kind = &panel.options.kind;
    let shown = panel.options.contexts.map_or(usize::MAX, |most| most as usize);
    let mut asks = Vec::new();
    let mut settled: Vec<Option<Result<Score, RowError>>> = Vec::with_capacity(responses.len());
    for response in responses {
        let answer = response.response.answer.unwrap_or_default();
        let gold = &response.case.gold.answers;
        if let Some(score) = without_asking(kind, answer, gold) {
            settled.push(Some(Ok(score)));
            continue;
        }
        let contexts: Vec<&str> = response.response.results.iter().take(shown).map(|hit| &*hit.text).collect();
        let view = json!({"question": response.case.query, "gold": gold, "answer": answer, "contexts": contexts});
        match panel.fill(&view) {
            Ok(user) => {
                asks.push(Ask { case_id: response.case.case_id, user, schema: schema(kind) });
                settled.push(None);
            }
            Err(error) => settled.push(Some(Err(error))),
        }
    }
    let given: Vec<Result<Score, RowError>> = match (kind, panel.options.openviking_reading) {
        (JudgeKind::OpenViking(scale), true) => {
            let read = |reply: Result<String, RowError>| reply.map(|text| leniently(*scale, &text));
            panel.ask_for_words(&asks)?.into_iter().map(read).collect()
        }
        _ => panel.ask(&asks)?.into_iter().map(|reply| reply.map(|reply| graded(kind, &reply))).collect(),
    };
    let mut given = given.into_iter();
    Ok(settled.into_iter().map(|settled| settled.unwrap_or_else(|| given.next().unwrap_or_else(no_reply))).collect())
}

/// The score of a response that no model is needed for.
fn without_asking(kind: &JudgeKind, answer: &str, gold: &[String]) -> Option<Score> {
    let empty = answer.trim().is_empty();
    match kind {
        JudgeKind::Rubric(_) => None,
        JudgeKind::AnswerRelevance if empty => Some(nothing_said()),
        JudgeKind::AnswerRelevance => None,
        _ if gold.is_empty() => Some(Score::skipped("the case has no gold answers")),
        JudgeKind::Correctness if empty => Some(nothing_said()),
        _ => None,
    }
}

/// An empty answer is worth nothing, and no call.
fn nothing_said() -> Score {
    let detail = [("reasoning".to_string(), "the answer is empty".into())].into_iter().collect();
    Score::scored(ScoreValue::Number(0.0), None, detail)
}

fn schema(kind: &JudgeKind) -> Value {
    match kind {
        JudgeKind::Rubric(rubric) => rubric.schema().clone(),
        JudgeKind::OpenViking(OpenVikingScale::Binary) => json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {"reasoning": {"type": "string", "maxLength": 1000}, "score": {"enum": [0, 4]}},
            "required": ["reasoning", "score"],
        }),
        _ => graded_schema(0, 4),
    }
}

fn graded(kind: &JudgeKind, reply: &Reply) -> Score {
    let mut detail: Json = reply.value.as_object().cloned().unwrap_or_default();
    detail.insert("replies".to_string(), json!([reply.text]));
    let number = reply.value.get("score").and_then(Value::as_f64).unwrap_or_default();
    match kind {
        JudgeKind::Rubric(rubric) => by_rubric(rubric, &reply.value, detail),
        JudgeKind::OpenViking(_) => Score::scored(ScoreValue::Number(number), None, detail),
        _ => Score::scored(ScoreValue::Number(number / MOST), None, detail),
    }
}

fn by_rubric(rubric: &Rubric, value: &Value, detail: Json) -> Score {
    if let Some(verdict) = value.get("verdict").and_then(Value::as_bool) {
        return Score::scored(ScoreValue::Bool(verdict), Some(verdict), detail);
    }
    if let Some(label) = value.get("label").and_then(Value::as_str) {
        let passed = (!rubric.pass_labels.is_empty()).then(|| rubric.pass_labels.iter().any(|pass| pass == label));
        return Score::scored(ScoreValue::Label(label.to_string()), passed, detail);
    }
    let score = value.get("score").and_then(Value::as_f64).unwrap_or_default();
    Score::scored(ScoreValue::Number(score), rubric.pass.map(|least| score >= least), detail)
}

/// As OpenViking reads a reply: whatever it says, there is a score.
fn leniently(scale: OpenVikingScale, text: &str) -> Score {
    let read = parse_openviking_reply(scale, text);
    let detail: Json = [
        ("reasoning".to_string(), read.reasoning),
        ("parsed_by".to_string(), read.parsed_by.name().into()),
        ("replies".to_string(), json!([text])),
    ]
    .into_iter()
    .collect();
    Score::scored(ScoreValue::Number(read.score as f64), None, detail)
}
