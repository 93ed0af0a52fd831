//! The JSON form of one case in one query (spec/heta 1.1, case result): keys and their order are Heta's.
//!
//! What Heta has no place for is in `metadata`. Scores that are no scores are there too (`unscored`), not in `scores`,
//! because a reader of Heta's reports would average them in.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::case_response::CaseResponse;
use crate::aggregate::unit_responses::ResponseFailure;
use crate::aggregate::usage::UsagePart;
use crate::artifact::{Answer, AnswerSample, Citation, Hit, Json, ScoreValue};
use crate::error::RowError;
use crate::model::ModelUsage;
use crate::query::TRACE;

/// One case in one query of one recipe.
#[derive(Serialize)]
pub(super) struct CaseResult<'a> {
    case_id: &'a str,
    query: &'a str,
    query_mode: &'a str,
    scores: Vec<ScoreEntry<'a>>,
    response: Option<ResponseEntry<'a>>,
    latency_ms: Option<f64>,
    error: Option<ErrorEntry<'a>>,
    metadata: CaseMetadata<'a>,
}

#[derive(Serialize)]
struct ScoreEntry<'a> {
    name: &'a str,
    /// A number, a truth value or a text, as Heta writes them.
    value: Value,
    passed: Option<bool>,
    metadata: Cow<'a, Json>,
}

#[derive(Serialize)]
struct ResponseEntry<'a> {
    mode: &'a str,
    results: &'a [Hit],
    answer: Option<&'a str>,
    citations: Vec<CitationEntry<'a>>,
    trace: &'a [Value],
    metadata: Cow<'a, Json>,
}

#[derive(Serialize)]
struct CitationEntry<'a> {
    id: &'a str,
    result_id: Option<&'a str>,
    source: &'a Json,
    text: Option<&'a str>,
    metadata: Json,
}

#[derive(Serialize)]
struct ErrorEntry<'a> {
    message: &'a str,
    error_type: &'a str,
    retryable: bool,
    metadata: ErrorMetadata<'a>,
}

#[derive(Serialize)]
struct ErrorMetadata<'a> {
    step: &'a str,
    attempts: u32,
}

#[derive(Serialize)]
struct CaseMetadata<'a> {
    benchmark_run_unit: &'a str,
    knowledge_base_name: &'a str,
    recipe: &'a str,
    category: Option<&'a str>,
    unscored: Vec<UnscoredEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerMetadata<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    usage: Vec<UsageEntry<'a>>,
}

/// What is known of an answer beside its text and citations.
#[derive(Serialize)]
struct AnswerMetadata<'a> {
    refused: bool,
    #[serde(skip_serializing_if = "<[AnswerSample]>::is_empty")]
    samples: &'a [AnswerSample],
    #[serde(flatten)]
    metadata: &'a Json,
}

#[derive(Serialize)]
struct UsageEntry<'a> {
    part: UsagePart,
    #[serde(flatten)]
    usage: &'a ModelUsage,
}

#[derive(Serialize)]
struct UnscoredEntry<'a> {
    name: &'a str,
    state: &'a str,
    reason: Option<&'a str>,
    error: Option<&'a RowError>,
}

impl<'a> CaseResult<'a> {
    /// The JSON form of `case`, asked of the knowledge base called `knowledge_base`.
    pub(super) fn of(case: &'a CaseResponse<'a>, knowledge_base: &'a str) -> Self {
        CaseResult {
            case_id: &case.query.case_id,
            query: &case.query.text,
            query_mode: &case.planned.query,
            scores: scores(case),
            response: response(case),
            latency_ms: case.latency_ms.map(|ms| (ms * 1000.0).round() / 1000.0),
            error: case.failure.as_ref().map(error),
            metadata: CaseMetadata {
                benchmark_run_unit: case.unit_id,
                knowledge_base_name: knowledge_base,
                recipe: &case.planned.recipe,
                category: case.query.category.as_deref(),
                unscored: unscored(case),
                answer: case.answer.and_then(answer_metadata),
                usage: usage(case),
            },
        }
    }
}

fn scores<'a>(case: &'a CaseResponse<'a>) -> Vec<ScoreEntry<'a>> {
    let entry = |name: &'a str, value: &ScoreValue, passed, metadata: Option<&'a Json>| ScoreEntry {
        name,
        value: value.json(),
        passed,
        metadata: metadata.map_or_else(|| Cow::Owned(Json::new()), Cow::Borrowed),
    };
    let scores = case.scores.iter().zip(&case.details);
    scores
        .filter_map(|((name, outcome), detail)| Some(entry(name, outcome.value.as_ref()?, outcome.passed, *detail)))
        .collect()
}

fn unscored<'a>(case: &'a CaseResponse<'a>) -> Vec<UnscoredEntry<'a>> {
    let scores = case.scores.iter().filter(|(_, outcome)| outcome.value.is_none());
    scores
        .map(|(name, outcome)| UnscoredEntry {
            name,
            state: outcome.state.name(),
            reason: outcome.reason,
            error: outcome.error,
        })
        .collect()
}

/// Answers that were extracted or given by a system have none.
fn answer_metadata(answer: &Answer) -> Option<AnswerMetadata<'_>> {
    let Answer { refused, samples, metadata, .. } = answer;
    let known = *refused || !samples.is_empty() || !metadata.is_empty();
    known.then_some(AnswerMetadata { refused: *refused, samples, metadata })
}

fn usage<'a>(case: &'a CaseResponse<'a>) -> Vec<UsageEntry<'a>> {
    let parts = case.usage.iter();
    parts.flat_map(|(part, list)| list.iter().map(|usage| UsageEntry { part: *part, usage })).collect()
}

fn response<'a>(case: &'a CaseResponse<'a>) -> Option<ResponseEntry<'a>> {
    let retrieved = case.retrieved?;
    let citation = |citation: &'a Citation| CitationEntry {
        id: &citation.id,
        result_id: citation.result_id.as_deref(),
        source: &citation.source,
        text: citation.text.as_deref(),
        metadata: Json::new(),
    };
    Some(ResponseEntry {
        mode: &case.planned.mode,
        results: &retrieved.results,
        answer: case.answer.and_then(|answer| answer.text.as_deref()),
        citations: case.answer.map(|answer| answer.citations.iter().map(citation).collect()).unwrap_or_default(),
        trace: retrieved.metadata.get(TRACE).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
        metadata: without_trace(&retrieved.metadata),
    })
}

/// Metadata without the trace, which has a place of its own.
fn without_trace(metadata: &Json) -> Cow<'_, Json> {
    match metadata.contains_key(TRACE) {
        true => {
            Cow::Owned(metadata.iter().filter(|(key, _)| *key != TRACE).map(|(k, v)| (k.clone(), v.clone())).collect())
        }
        false => Cow::Borrowed(metadata),
    }
}

fn error(failure: &ResponseFailure) -> ErrorEntry<'_> {
    ErrorEntry {
        message: &failure.error.message,
        error_type: failure.error.kind.name(),
        retryable: failure.error.kind.retryable(),
        metadata: ErrorMetadata { step: failure.step.name(), attempts: failure.error.attempts },
    }
}
