//! Judges of claims: a text is taken apart into claims, and each is held against sources.

use serde_json::{Value, json};

use super::judge_evaluator::JudgeOptions;
use super::judge_kind::JudgeKind;
use super::prompts::{CLAIMS, ReplyForm};
use super::questions::{Question, Reply, ask};
use super::repeats::combined;
use crate::artifact::{Json, Score, ScoreValue};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{Prompt, ReplySchema};
use crate::score::evaluator::Scorable;
use crate::score::textless::{WITHOUT_TEXTS, are_textless};

/// What is taken apart, and what it is held against.
enum Begun<'a> {
    /// Nobody needs to be asked.
    Known(Score),
    /// To be asked.
    Asked { text: &'a str, sources: Vec<&'a str> },
}

/// The accepted answers of a case, without blank ones.
pub(super) fn accepted<'a>(response: &Scorable<'a>) -> Vec<&'a str> {
    response.case.gold.answers.iter().map(|gold| gold.trim()).filter(|gold| !gold.is_empty()).collect()
}

fn begun<'a>(kind: &JudgeKind, options: &JudgeOptions, response: &Scorable<'a>) -> Begun<'a> {
    let answer = response.response.answer.unwrap_or_default().trim();
    let golds = accepted(response);
    let of_answer = matches!(kind, JudgeKind::Faithfulness | JudgeKind::ClaimPrecision);
    if !matches!(kind, JudgeKind::Faithfulness) && golds.is_empty() {
        return Begun::Known(Score::skipped("the case has no accepted answer"));
    }
    if of_answer && answer.is_empty() {
        return Begun::Known(Score::skipped("the answer is empty"));
    }
    if matches!(kind, JudgeKind::Faithfulness | JudgeKind::ContextRecall) && are_textless(response.response.results) {
        return Begun::Known(Score::skipped(WITHOUT_TEXTS));
    }
    let text = if of_answer { answer } else { golds.first().copied().unwrap_or_default() };
    let sources = match kind {
        JudgeKind::ClaimPrecision => golds,
        JudgeKind::ClaimRecall if answer.is_empty() => Vec::new(),
        JudgeKind::ClaimRecall => vec![answer],
        _ => options.contexts.texts(response.response.results),
    };
    // Of the answer's claims it must still be known whether there are any.
    if sources.is_empty() && !of_answer {
        let why = if matches!(kind, JudgeKind::ClaimRecall) { "the answer is empty" } else { "nothing was retrieved" };
        return Begun::Known(known_zero(why));
    }
    Begun::Asked { text, sources }
}

/// 0, and why nobody had to be asked for it.
pub(super) fn known_zero(why: &str) -> Score {
    let detail = Json::from_iter([("not_asked".to_string(), why.into())]);
    Score::scored(ScoreValue::Number(0.0), Some(false), detail)
}

/// The claims of a response's text, or its score already.
enum Taken {
    Known(Result<Score, RowError>),
    Claims { claims: Vec<String>, reply: Reply },
}

/// A score for each of `responses`: the share of claims that the sources support (Es et al. 2024, section 3). A text without
/// claims is skipped.
///
/// Claims are asked for once, whatever the number of judgements, and in the same words by every judge of claims: they share
/// the rows.
pub(super) fn score(
    context: &dyn Context,
    kind: &JudgeKind,
    options: &JudgeOptions,
    responses: &[Scorable<'_>],
) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let begun: Vec<Begun<'_>> = responses.iter().map(|response| begun(kind, options, response)).collect();
    let prompt = Prompt::new(CLAIMS);
    let mut questions = Vec::new();
    for (response, begun) in responses.iter().zip(&begun) {
        if let Begun::Asked { text, .. } = begun {
            let view = json!({"question": response.case.query, "text": text});
            let (form, schema) = (ReplyForm::Claims, Some(claims_schema()));
            questions.push(Question { about: response, sample: 0, prompt: &prompt, view, form, schema });
        }
    }
    let mut replies = ask(context, options, &questions)?.into_iter();
    let taken: Vec<Taken> = begun
        .iter()
        .map(|begun| match begun {
            Begun::Known(score) => Taken::Known(Ok(score.clone())),
            Begun::Asked { sources, .. } => match replies.next() {
                Some(Ok(reply)) => taken(reply, sources),
                Some(Err(error)) => Taken::Known(Err(error)),
                None => Taken::Known(Ok(Score::skipped("nobody was asked"))),
            },
        })
        .collect();
    let mut questions = Vec::new();
    for ((response, begun), taken) in responses.iter().zip(&begun).zip(&taken) {
        let (Begun::Asked { sources, .. }, Taken::Claims { claims, .. }) = (begun, taken) else { continue };
        let view = json!({
            "question": response.case.query, "sources": numbered(sources.iter().copied()),
            "claims": numbered(claims.iter().map(String::as_str)),
        });
        let question = Question {
            about: response,
            sample: 0,
            prompt: &options.prompt,
            view,
            form: ReplyForm::Verdicts(claims.len()),
            schema: Some(verdicts_schema("claim_verdicts", "claim", "supported", claims.len())),
        };
        questions.extend(question.repeated(options));
    }
    let mut verdicts = ask(context, options, &questions)?.into_iter();
    let scores = taken.into_iter().map(|taken| match taken {
        Taken::Known(score) => score,
        Taken::Claims { claims, reply } => {
            let judgements = verdicts.by_ref().take(options.judgements() as usize);
            let score = combined(judgements.map(|verdict| Ok(judged(&claims, &reply, &verdict?))).collect());
            score.map(|score| score.taking(&reply.usage))
        }
    });
    Ok(scores.collect())
}

fn taken(reply: Reply, sources: &[&str]) -> Taken {
    let texts = reply.value["claims"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let claims: Vec<String> = texts.map(|claim| claim.trim().to_string()).filter(|claim| !claim.is_empty()).collect();
    if claims.is_empty() {
        return Taken::Known(Ok(Score::skipped("the text makes no claims").taking(&reply.usage)));
    }
    if sources.is_empty() {
        let verdicts = claims.iter().map(|claim| json!({"claim": claim, "supported": false}));
        let detail = Json::from_iter([
            ("claims".to_string(), verdicts.collect()),
            ("claims_reply".to_string(), json!(reply.chat)),
            ("not_asked".to_string(), "nothing was retrieved".into()),
        ]);
        let score = Score::scored(ScoreValue::Number(0.0), Some(false), detail);
        return Taken::Known(Ok(score.taking(&reply.usage)));
    }
    Taken::Claims { claims, reply }
}

fn judged(claims: &[String], claims_reply: &Reply, verdicts: &Reply) -> Score {
    let found = verdicts.value["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let supported = found.iter().filter(|verdict| verdict["supported"] == true).count();
    let listed = claims.iter().zip(found).map(
        |(claim, verdict)| json!({"claim": claim, "supported": verdict["supported"], "reason": verdict["reason"]}),
    );
    let detail = Json::from_iter([
        ("claims".to_string(), listed.collect()),
        ("claims_reply".to_string(), json!(claims_reply.chat)),
        ("reply".to_string(), json!(verdicts.chat)),
    ]);
    let value = supported as f64 / claims.len() as f64;
    Score::scored(ScoreValue::Number(value), Some(supported == claims.len()), detail).taking(&verdicts.usage)
}

/// Texts with their numbers from 1, as prompts show them.
pub(super) fn numbered<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    texts.zip(1_u64..).map(|(text, number)| json!({"number": number, "text": text})).collect()
}

fn claims_schema() -> ReplySchema {
    let properties = json!({"claims": json!({"type": "array", "items": {"type": "string"}})});
    ReplySchema {
        name: "claims",
        schema: json!({"type": "object", "properties": properties, "required": ["claims"], "additionalProperties": false}),
    }
}

/// A list of `count` verdicts, each with the number of what it is `on`, a reason and a truth value that `says` so.
pub(super) fn verdicts_schema(name: &'static str, on: &str, says: &str, count: usize) -> ReplySchema {
    let verdict = json!({
        "type": "object",
        "properties": {
            on: {"type": "integer", "minimum": 1, "maximum": count},
            "reason": {"type": "string"},
            says: {"type": "boolean"},
        },
        "required": [on, "reason", says],
        "additionalProperties": false,
    });
    let verdicts = json!({"type": "array", "items": verdict, "minItems": count, "maxItems": count});
    let schema = json!({
        "type": "object", "properties": {"verdicts": verdicts}, "required": ["verdicts"], "additionalProperties": false,
    });
    ReplySchema { name, schema }
}
