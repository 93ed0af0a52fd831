//! Judges that split one text into claims and ask of each whether other texts support it: `faithfulness`, `context_recall`,
//! `claim_precision` and `claim_recall`.
//!
//! Es, James, Espinosa-Anke and Schockaert, "RAGAS", EACL 2024 demonstrations (faithfulness); Ru et al., "RAGChecker", NeurIPS 2024
//! (claims of answer and gold answer against each other).

use serde_json::{Value, json};

use super::claims::{Claims, Stated, claims};
use super::judge_kind::JudgeKind;
use super::panel::{Ask, Panel, Reply};
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, StageError};
use crate::score::Scorable;

/// What is known of a response before the model is asked.
enum Before<'a> {
    /// Its score, which needs no model.
    Settled(Score),
    /// The text with claims, and what may support them.
    Open { text: &'a str, sources: Vec<&'a str> },
}

/// A score or an error for each of `responses`.
pub(super) fn score(panel: &Panel<'_>, responses: &[Scorable<'_>]) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let before: Vec<Before<'_>> = responses.iter().map(|response| before(panel, response)).collect();
    let mut stated = Vec::new();
    for (before, response) in before.iter().zip(responses) {
        if let Before::Open { text, .. } = before {
            stated.push(Stated { case_id: response.case.case_id, question: response.case.query, text });
        }
    }
    let mut claimed = claims(panel, &stated)?.into_iter();
    let mut found: Vec<Result<(Before<'_>, Option<Claims>), RowError>> = Vec::with_capacity(responses.len());
    for before in before {
        found.push(match before {
            Before::Settled(_) => Ok((before, None)),
            Before::Open { .. } => claimed.next().unwrap_or_else(no_reply).map(|claims| (before, Some(claims))),
        });
    }
    let mut asks: Vec<Ask<'_>> = Vec::new();
    let mut unfilled: Vec<Option<RowError>> = Vec::with_capacity(responses.len());
    for (found, response) in found.iter().zip(responses) {
        let ask = match found {
            Ok((Before::Open { sources, .. }, Some(claims))) if !claims.claims.is_empty() && !sources.is_empty() => {
                let view = json!({"question": response.case.query, "sources": sources, "claims": claims.claims});
                Some(panel.fill(&view).map(|user| Ask {
                    case_id: response.case.case_id,
                    user,
                    schema: verdicts_schema("supported", claims.claims.len()),
                }))
            }
            _ => None,
        };
        unfilled.push(match ask {
            Some(Ok(ask)) => {
                asks.push(ask);
                None
            }
            Some(Err(error)) => Some(error),
            None => None,
        });
    }
    let mut replies = panel.ask(&asks)?.into_iter();
    let scores = found.into_iter().zip(unfilled).map(|(found, unfilled)| {
        let (before, claims) = found?;
        if let Some(error) = unfilled {
            return Err(error);
        }
        let (sources, claims) = match (before, claims) {
            (Before::Settled(score), _) => return Ok(score),
            (Before::Open { sources, .. }, Some(claims)) => (sources, claims),
            (Before::Open { .. }, None) => return no_reply(),
        };
        if claims.claims.is_empty() {
            return Ok(Score::skipped("the text makes no claim"));
        }
        if sources.is_empty() {
            return Ok(unsupported(&claims));
        }
        Ok(supported(&claims, &replies.next().unwrap_or_else(no_reply)?))
    });
    Ok(scores.collect())
}

fn before<'a>(panel: &Panel<'_>, response: &Scorable<'a>) -> Before<'a> {
    let gold = response.case.gold;
    let answer = response.response.answer.unwrap_or_default();
    let contexts = || {
        let shown = panel.options.contexts.map_or(usize::MAX, |most| most as usize);
        response.response.results.iter().take(shown).map(|hit| &*hit.text).collect::<Vec<_>>()
    };
    let golds = || gold.answers.iter().map(String::as_str).collect::<Vec<_>>();
    let first = gold.answers.first().map(String::as_str).unwrap_or_default();
    let (text, sources) = match panel.options.kind {
        JudgeKind::ContextRecall => (first, contexts()),
        JudgeKind::ClaimPrecision => (answer, golds()),
        JudgeKind::ClaimRecall => (first, vec![answer].into_iter().filter(|text| !text.trim().is_empty()).collect()),
        _ => (answer, contexts()),
    };
    let needs_gold = !matches!(panel.options.kind, JudgeKind::Faithfulness);
    match text.trim().is_empty() {
        _ if needs_gold && gold.answers.is_empty() => Before::Settled(Score::skipped("the case has no gold answers")),
        true => Before::Settled(Score::skipped("the text is empty")),
        false => Before::Open { text, sources },
    }
}

/// The schema of a verdict for each of `count` things.
pub(super) fn verdicts_schema(verdict: &str, count: usize) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"verdicts": {
            "type": "array", "minItems": count, "maxItems": count,
            "items": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"reason": {"type": "string", "maxLength": 300}, verdict: {"type": "boolean"}},
                "required": ["reason", verdict],
            },
        }},
        "required": ["verdicts"],
    })
}

/// The verdicts of a reply, with their reasons.
pub(super) fn verdicts<'a>(reply: &'a Reply, verdict: &'a str) -> impl Iterator<Item = (bool, &'a str)> {
    let all = reply.value.get("verdicts").and_then(Value::as_array).into_iter().flatten();
    all.map(move |one| {
        let holds = one.get(verdict).and_then(Value::as_bool).unwrap_or_default();
        (holds, one.get("reason").and_then(Value::as_str).unwrap_or_default())
    })
}

fn supported(claims: &Claims, reply: &Reply) -> Score {
    let verdicts: Vec<(bool, &str)> = verdicts(reply, "supported").collect();
    let holding = verdicts.iter().filter(|(holds, _)| *holds).count();
    let list: Vec<Value> = claims
        .claims
        .iter()
        .zip(&verdicts)
        .map(|(claim, (holds, reason))| json!({"claim": claim, "supported": holds, "reason": reason}))
        .collect();
    scored(holding, claims, list, vec![&claims.reply, &reply.text])
}

/// With nothing to rest on.
fn unsupported(claims: &Claims) -> Score {
    let list = claims.claims.iter().map(|claim| json!({"claim": claim, "supported": false})).collect();
    scored(0, claims, list, vec![&claims.reply])
}

fn scored(holding: usize, claims: &Claims, list: Vec<Value>, replies: Vec<&String>) -> Score {
    let detail: Json =
        [("claims".to_string(), list.into()), ("replies".to_string(), json!(replies))].into_iter().collect();
    Score::scored(ScoreValue::Number(holding as f64 / claims.claims.len() as f64), None, detail)
}

/// Only through a fault of ours: fewer replies than questions.
pub(super) fn no_reply<T>() -> Result<T, RowError> {
    Err(RowError::new(crate::error::RowErrorKind::Evaluator, "the judge was not asked"))
}
