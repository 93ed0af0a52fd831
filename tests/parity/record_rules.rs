//! The rules of Heta's own types for a case and a response (spec/heta 1), which refuse a record before any evaluator runs.

use ragstage_stages::python::strip;
use serde_json::Value;

/// Heta strips texts when it builds a case or a response, as adapters do for us.
pub fn stripped(value: &Value) -> Option<String> {
    value.as_str().map(|text| strip(text).to_string())
}

/// The stage at which Heta refuses a record; `None` where it builds both case and response.
pub fn refused_stage(case: &Value, response: &Value) -> Option<&'static str> {
    if !is_case(case) {
        Some("case")
    } else if !is_response(response) {
        Some("response")
    } else {
        None
    }
}

/// A text that is not blank.
fn is_text(value: &Value) -> bool {
    stripped(value).is_some_and(|text| !text.is_empty())
}

/// The same, or nothing.
fn is_optional_text(value: &Value) -> bool {
    value.is_null() || is_text(value)
}

/// Whether all items of a list (none where it is absent) are as `is` says.
fn all(list: &Value, is: impl Fn(&Value) -> bool) -> bool {
    list.as_array().into_iter().flatten().all(is)
}

/// A record may leave out the ids and the question: they say nothing to an evaluator.
fn is_absent_or_text(record: &Value, field: &str) -> bool {
    record.get(field).is_none_or(is_text)
}

fn is_case(case: &Value) -> bool {
    let expected = &case["expected"];
    let is_evidence = |piece: &Value| {
        let locator = piece["locator"].as_object().is_some_and(|locator| !locator.is_empty());
        let given = locator || !piece["reference_id"].is_null() || !piece["text"].is_null();
        given && is_optional_text(&piece["reference_id"]) && is_optional_text(&piece["text"])
    };
    is_absent_or_text(case, "case_id")
        && is_absent_or_text(case, "query")
        && all(&expected["answers"], is_text)
        && all(&expected["evidence"], is_evidence)
}

fn is_response(response: &Value) -> bool {
    let is_result =
        |result: &Value| is_text(&result["id"]) && is_text(&result["text"]) && is_absent_or_text(result, "kind");
    let is_citation = |citation: &Value| {
        is_text(&citation["id"]) && is_optional_text(&citation["result_id"]) && is_optional_text(&citation["text"])
    };
    is_absent_or_text(response, "mode")
        && is_optional_text(&response["answer"])
        && all(&response["results"], is_result)
        && all(&response["citations"], is_citation)
}
