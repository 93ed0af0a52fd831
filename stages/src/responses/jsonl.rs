//! Responses as JSON lines: `{"case_id": ..., "answer": ..., "results": [{"id": ..., "text": ..., "source": {...}}]}`.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::response::{Response, Whose};
use crate::artifact::{AnswerSample, Citation, Hit, Json};
use crate::error::{InputError, Place};
use crate::unique_json::UniqueJson;

/// A line. Keys that are not known are errors: a misspelt one would lose what it holds in silence.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    case_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    results: Vec<LineHit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    citations: Vec<Citation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<AnswerSample>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Json::is_empty")]
    metadata: Json,
}

/// A hit needs only an id: that of a document, or a passage's own with the document under `source`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineHit {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default = "chunk")]
    kind: String,
    #[serde(default)]
    source: Json,
    #[serde(default)]
    metadata: Json,
}

fn chunk() -> String {
    "chunk".to_string()
}

/// The response in a line of a file.
///
/// # Errors
/// Where in the line it is no response, and what was expected.
pub fn read_line(path: &Path, number: u64, text: &str) -> Result<Response, InputError> {
    let fault = |error: serde_json::Error| {
        // A message of serde's ends with the place, which stands before it here.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        InputError::new(Place::at(path, number, error.column().max(1) as u64), format!("no response: {message}"))
            .hint("a line is {\"case_id\": ..., \"answer\": ..., \"results\": [{\"id\": ..., \"text\": ...}]}")
    };
    let UniqueJson(value) = serde_json::from_str(text).map_err(fault)?;
    drop(value);
    // Read again rather than converted, so that what does not fit has its column.
    let line: Line = serde_json::from_str(text).map_err(fault)?;
    let hit = |hit: LineHit| Hit {
        id: hit.id,
        text: hit.text.into(),
        score: hit.score,
        kind: hit.kind,
        source: Arc::new(hit.source),
        metadata: hit.metadata,
    };
    Ok(Response {
        whose: Whose::Case(line.case_id),
        results: line.results.into_iter().map(hit).collect(),
        answer: line.answer.or_else(|| line.samples.first().map(|sample| sample.text.clone())),
        citations: line.citations,
        samples: line.samples,
        latency_ms: line.latency_ms,
        error: line.error,
        metadata: line.metadata,
    })
}

/// The line of a response whose case is known by its id.
///
/// # Errors
/// Only through a fault of ours.
pub fn write_line(case_id: &str, response: &Response) -> Result<String, serde_json::Error> {
    let hit = |hit: &Hit| LineHit {
        id: hit.id.clone(),
        text: hit.text.to_string(),
        score: hit.score,
        kind: hit.kind.clone(),
        source: (*hit.source).clone(),
        metadata: hit.metadata.clone(),
    };
    serde_json::to_string(&Line {
        case_id: case_id.to_string(),
        answer: response.answer.clone(),
        results: response.results.iter().map(hit).collect(),
        citations: response.citations.clone(),
        samples: response.samples.clone(),
        latency_ms: response.latency_ms,
        error: response.error.clone(),
        metadata: response.metadata.clone(),
    })
}

/// The responses of a file.
///
/// # Errors
/// All lines that are no response.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut responses, mut errors) = (Vec::new(), Vec::new());
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1u64..) {
        let read = match std::str::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => read_line(path, number, text.trim_end()),
            Err(error) => {
                let column = error.valid_up_to() as u64 + 1;
                Err(InputError::new(Place::at(path, number, column), "not UTF-8").hint("save the file as UTF-8"))
            }
        };
        match read {
            Ok(response) => responses.push((number, response)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(responses) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_response_and_back() {
        let text = r#"{"case_id":"a","answer":"x","results":[{"id":"c","text":"t","score":0.5,"kind":"chunk","source":{"document_id":"d"},"metadata":{}}],"latency_ms":2.5}"#;
        let response = read_line(Path::new("r.jsonl"), 1, text).expect("a response");
        assert_eq!(response.whose, Whose::Case("a".to_string()));
        assert_eq!(write_line("a", &response).expect("a line"), text);
        let short =
            read_line(Path::new("r.jsonl"), 1, r#"{"case_id": "a", "results": [{"id": "d1"}]}"#).expect("ids do");
        assert_eq!((short.answer, &*short.results[0].text), (None, ""));
    }

    #[test]
    fn faults_have_a_place() {
        let text = "{\"case_id\": \"a\"}\n\n{\"case_id\": \"b\", \"anwser\": \"x\"}\n{\"case_id\": \"c\", \"answer\": 3}\n{\"case_id\": \"d\"\n\
                    {\"case_id\": \"e\", \"case_id\": \"f\"}\n{\"answer\": \"x\"}\n";
        let errors = read(Path::new("r.jsonl"), text.as_bytes()).expect_err("faults");
        let told: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.place, error.message)).collect();
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[0].starts_with("r.jsonl:3:") && told[0].contains("unknown field `anwser`"), "{}", told[0]);
        assert!(told[1].starts_with("r.jsonl:4:") && told[1].contains("expected a string"), "{}", told[1]);
        assert!(told[2].contains("EOF"), "{}", told[2]);
        assert!(told[3].contains("case_id"), "{}", told[3]);
        assert!(told[4].contains("missing field `case_id`"), "{}", told[4]);
    }
}
