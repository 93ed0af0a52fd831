//! OpenViking's `generated_answers.json` (spec/openviking 6.5).
//!
//! An item knows its case by `sample_id` and `question`, with whatever its adapter put before the question. The retrieved texts are
//! not stored there: hits have the URI as their id, and the first the recall that the file states. Ours has them beside the URIs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::json_place::{fault, found, list, whole};
use super::response::Response;
use crate::artifact::{Hit, Json, STATED_RECALL};
use crate::error::InputError;
use crate::python::strip;

/// The responses of a file, in its order.
///
/// # Errors
/// What is no such file, with a JSON pointer.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let file = whole(path, bytes).map_err(|error| vec![error])?;
    let items = list(path, &file, "results").map_err(|error| vec![error])?;
    let (mut responses, mut errors) = (Vec::new(), Vec::new());
    let mut indexes: HashMap<i64, usize> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        if let Some(index) = item.get("_global_index").and_then(Value::as_i64)
            && let Some(first) = indexes.insert(index, i)
        {
            let message = format!("the question of _global_index {index} is at /results/{first} and again");
            errors.push(fault(path, &format!("/results/{i}"), &message).hint("keep one answer per question"));
        }
        match response(path, &format!("/results/{i}"), item) {
            Ok(response) => responses.push((i as u64, response)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(responses) } else { Err(errors) }
}

fn response(path: &Path, pointer: &str, item: &Value) -> Result<Response, InputError> {
    let expected = |key: &str, value: Option<&Value>| {
        fault(path, &format!("{pointer}{key}"), &format!("expected a text, found {}", found(value)))
            .hint(
            "is it OpenViking's generated_answers.json? If not, `format` in an evaluation file, or --responses-format of \
             `import` and `score`, says what else it is",
        )
    };
    let Some(question) = item.get("question").and_then(Value::as_str) else {
        return Err(expected("/question", item.get("question")));
    };
    let unit = item.get("sample_id").and_then(Value::as_str).map(str::to_string);
    let mut response = Response::default();
    match item.get("case_id").and_then(Value::as_str) {
        Some(case_id) => response.case_id = case_id.to_string(),
        None => {
            response.question = Some(strip(question).to_string());
            response.unit = unit;
        }
    }
    response.answer = match item.pointer("/llm/final_answer") {
        None | Some(Value::Null) => None,
        Some(Value::String(answer)) => Some(answer.clone()),
        other => return Err(expected("/llm/final_answer", other)),
    };
    let uris = item.pointer("/retrieval/uris").and_then(Value::as_array).into_iter().flatten();
    let texts = item.pointer("/retrieval/texts").and_then(Value::as_array);
    let recall = item.pointer("/metrics/Recall");
    if recall.and_then(Value::as_f64).is_some_and(|recall| !(0.0..=1.0).contains(&recall)) {
        let message = format!("expected a number from 0 to 1, found {}", found(recall));
        let hint = "recall is the share of the evidence that was found; leave it out where it is not known";
        return Err(fault(path, &format!("{pointer}/metrics/Recall"), &message).hint(hint));
    }
    let stated = recall.filter(|recall| texts.is_none() && recall.is_number());
    for (index, uri) in uris.enumerate() {
        let Some(uri) = uri.as_str() else { return Err(expected("/retrieval/uris", Some(uri))) };
        response.results.push(Hit {
            id: uri.to_string(),
            text: texts.and_then(|texts| texts.get(index)?.as_str()).unwrap_or_default().into(),
            score: None,
            kind: "resource".to_string(),
            source: Arc::new(Json::from_iter([("source_key".to_string(), uri.into())])),
            metadata: match stated.filter(|_| index == 0) {
                Some(recall) => Json::from_iter([(STATED_RECALL.to_string(), recall.clone())]),
                None => Json::new(),
            },
        });
    }
    response.latency_ms = item.pointer("/retrieval/latency_sec").and_then(Value::as_f64).map(|seconds| seconds * 1e3);
    Ok(response)
}
