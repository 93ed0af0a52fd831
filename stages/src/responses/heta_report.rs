//! The responses in a `report.json` (spec/heta 1.1, EvaluationReport), Heta Evaluation's or ours.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::json_place::{fault, found, list, whole};
use super::response::Response;
use super::response_set::Pick;
use crate::artifact::{AnswerSample, Citation, Hit};
use crate::error::{InputError, Place};

/// The responses of one query mode of one recipe. A file that has several must be told which by `pick`.
///
/// # Errors
/// What is no report, with a JSON pointer, and a report of ours that does not list every case: what it lists are failures and the
/// worst, whose scores would say nothing of the rest.
pub(super) fn read(path: &Path, bytes: &[u8], pick: &Pick) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let report = whole(path, bytes).map_err(|error| vec![error])?;
    if let Some(truncated) = report.pointer("/ragstage/case_results_truncated") {
        let number = |key: &str| truncated.get(key).map(Value::to_string).unwrap_or_default();
        let message = format!("the report lists only {} of {} case results", number("listed"), number("of"));
        let hint = "make it anew with `report: {case_results: all}`, or take the run itself: `--response-set RUN`";
        return Err(vec![InputError::new(Place::file(path), message).hint(hint)]);
    }
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
    let known = result.pointer("/metadata/answer").and_then(Value::as_object);
    let object = known.or_else(|| given.get("metadata").and_then(Value::as_object));
    response.metadata = object.cloned().unwrap_or_default();
    if known.is_some() {
        // Ours: all samples, of which `answer` is the first.
        response.metadata.remove("refused");
        if let Some(samples) = response.metadata.remove("samples") {
            response.samples = serde_json::from_value::<Vec<AnswerSample>>(samples).map_err(|error| {
                let message = format!("not what a report has: {error}");
                fault(path, &format!("{pointer}/metadata/answer/samples"), &message)
            })?;
        }
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_one(result: Value) -> Result<Response, Vec<String>> {
        let report = json!({"case_results": [result]}).to_string();
        let told = |errors: Vec<InputError>| errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>();
        let read = read(Path::new("report.json"), report.as_bytes(), &Pick::default()).map_err(told)?;
        Ok(read.into_iter().next().expect("a response").1)
    }

    #[test]
    fn samples_of_ours_and_metadata_of_theirs_are_kept() {
        let ours = read_one(json!({
            "case_id": "a", "query_mode": "bm25", "response": {"answer": "x", "metadata": {"mode": "bm25"}},
            "metadata": {"answer": {"refused": true, "samples": [{"text": "x"}, {"text": "y"}], "passages": 2}},
        }));
        let ours = ours.expect("a response");
        let samples: Vec<&str> = ours.samples.iter().map(|sample| sample.text.as_str()).collect();
        assert_eq!((samples, Value::Object(ours.metadata)), (vec!["x", "y"], json!({"passages": 2})));
        let theirs = json!({"case_id": "a", "query_mode": "m", "response": {"answer": null, "metadata": {"rounds": 3}}, "metadata": {}});
        assert_eq!(Value::Object(read_one(theirs).expect("a response").metadata), json!({"rounds": 3}));
        let wrong = json!({"case_id": "a", "response": {}, "metadata": {"answer": {"samples": [1]}}});
        let errors = read_one(wrong).expect_err("no samples");
        assert!(errors[0].contains("/case_results/0/metadata/answer/samples"), "{errors:?}");
    }

    #[test]
    fn a_report_that_lists_only_the_worst_is_refused() {
        let report =
            json!({"case_results": [], "ragstage": {"case_results_truncated": {"listed": 3, "of": 9}}}).to_string();
        let errors = read(Path::new("report.json"), report.as_bytes(), &Pick::default()).expect_err("refused");
        assert!(errors[0].to_string().contains("lists only 3 of 9 case results"), "{}", errors[0]);
    }
}
