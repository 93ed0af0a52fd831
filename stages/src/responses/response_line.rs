//! A response as a line of JSON, as [`super::parse_response`] reads it.

use serde::Serialize;

use super::response::Response;
use crate::artifact::{AnswerSample, Citation, Hit, Json};

/// The fields of a line.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    case_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Hit]>::is_empty")]
    results: &'a [Hit],
    #[serde(skip_serializing_if = "<[Citation]>::is_empty")]
    citations: &'a [Citation],
    #[serde(skip_serializing_if = "<[AnswerSample]>::is_empty")]
    samples: &'a [AnswerSample],
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Json::is_empty")]
    metadata: &'a Json,
}

/// The line of a response to the case `case_id`, without its end.
///
/// # Errors
/// Only through a fault of ours.
pub fn response_line(case_id: &str, response: &Response) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Line::of(case_id, response))
}

impl<'a> Line<'a> {
    /// Those of a response to the case `case_id`.
    pub(super) fn of(case_id: &'a str, response: &'a Response) -> Self {
        Line {
            case_id,
            answer: response.answer.as_deref(),
            results: &response.results,
            citations: &response.citations,
            samples: &response.samples,
            latency_ms: response.latency_ms,
            error: response.error.as_deref(),
            metadata: &response.metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::jsonl::{Parts, ResponseLine, parse_response};
    use super::*;

    #[test]
    fn a_line_is_read_back() {
        let text = r#"{"case_id":"a","answer":"x","results":[{"id":"c","text":"t","score":0.5,"kind":"chunk","source":{"document_id":"d"},"metadata":{}}],"latency_ms":2.5}"#;
        let line = ResponseLine { number: 1, bytes: text.as_bytes() };
        let response = parse_response(Path::new("r.jsonl"), line, Parts::ALL).expect("a response");
        assert_eq!(response_line("a", &response).expect("a line"), text);
    }
}
