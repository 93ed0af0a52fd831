//! The responses in a `report.json` (spec/heta 1.1, EvaluationReport), Heta Evaluation's or ours.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::json_place::{fault, found, list, whole};
use super::response::Response;
use super::response_set::Pick;
use crate::artifact::{Citation, Hit};
use crate::error::{InputError, Place};

/// The responses of one query mode of one recipe. A file that has several must be told which by `pick`.
///
/// # Errors
/// What is no report, with a JSON pointer.
pub(super) fn read(path: &Path, bytes: &[u8], pick: &Pick) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let report = whole(path, bytes).map_err(|error| vec![error])?;
    let results = list(path, &report, "case_results").map_err(|error| vec![error])?;
    let column = |result: &Value| {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_string();
        (text(result.pointer("/metadata/recipe")), text(result.get("query_mode")))
    };
    let wanted = |(recipe, mode): &(String, String)| {
        pick.recipe.as_ref().is_none_or(|picked| picked == recipe)
            && pick.query.as_ref().is_none_or(|picked| picked == mode)
    };
    let columns: BTreeSet<(String, String)> = results.iter().map(column).collect();
    let picked: Vec<&(String, String)> = columns.iter().filter(|column| wanted(column)).collect();
    let [only] = picked[..] else {
        let shown = |(recipe, mode): &(String, String)| match recipe.as_str() {
            "" => mode.clone(),
            recipe => format!("{recipe} / {mode}"),
        };
        let all: Vec<String> = columns.iter().map(shown).collect();
        let message = match picked.len() {
            0 => format!("no responses of that recipe and query; there are {}", all.join(", ")),
            count => format!("responses of {count} recipes and queries: {}", all.join(", ")),
        };
        return Err(vec![
            InputError::new(Place::file(path), message).hint("say which with `recipe` and `query` of the response set"),
        ]);
    };
    let (mut responses, mut errors) = (Vec::new(), Vec::new());
    for (i, result) in results.iter().enumerate().filter(|(_, result)| column(result) == *only) {
        match response(path, &format!("/case_results/{i}"), result) {
            Ok(response) => responses.push((i as u64, response)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(responses) } else { Err(errors) }
}

fn response(path: &Path, pointer: &str, result: &Value) -> Result<Response, InputError> {
    let Some(case_id) = result.get("case_id").and_then(Value::as_str) else {
        let message = format!("expected a text, found {}", found(result.get("case_id")));
        return Err(fault(path, &format!("{pointer}/case_id"), &message));
    };
    let mut response = Response { case_id: case_id.to_string(), ..Response::default() };
    response.latency_ms = result.get("latency_ms").and_then(Value::as_f64);
    let failed = result.get("error").filter(|error| !error.is_null());
    response.error = failed.map(|error| {
        let message = error.get("message").and_then(Value::as_str);
        message.map_or_else(|| error.to_string(), str::to_string)
    });
    let Some(given) = result.get("response").filter(|given| !given.is_null()) else {
        response.error.get_or_insert_with(|| "the report has no response".to_string());
        return Ok(response);
    };
    let parse = |key: &str, error: serde_json::Error| {
        fault(path, &format!("{pointer}/response/{key}"), &format!("not what a report has: {error}"))
    };
    if let Some(hits) = given.get("results") {
        response.results = serde_json::from_value::<Vec<Hit>>(hits.clone()).map_err(|error| parse("results", error))?;
    }
    if let Some(citations) = given.get("citations") {
        // Ours have fields beside those of Heta's, and the other way round.
        response.citations =
            serde_json::from_value::<Vec<Citation>>(citations.clone()).map_err(|error| parse("citations", error))?;
    }
    response.answer = match given.get("answer") {
        None | Some(Value::Null) => None,
        Some(Value::String(answer)) => Some(answer.clone()),
        other => {
            let message = format!("expected a text, found {}", found(other));
            return Err(fault(path, &format!("{pointer}/response/answer"), &message));
        }
    };
    Ok(response)
}
