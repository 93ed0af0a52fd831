//! What is said to a system under test and what it must reply: one JSON object each way.
//!
//! Over HTTP the request is the body of a `POST` and the reply the body of a 2xx response. A command reads one request per
//! line on its standard input and writes one reply per line on its standard output, in the same order; its standard error
//! is its own.
//!
//! # Request
//!
//! ```json
//! {"query": "When was the lighthouse built?", "mode": "hybrid", "top_k": 10, "options": {"rerank": true}}
//! ```
//!
//! A command also gets `"id"`, the number of the request within its process, from 1: see below. A system that takes documents
//! in also gets `"handle"`, what it called the knowledge base that is asked.
//!
//! `query` is the question, `mode` the query mode's name in the evaluation file, `top_k` how many results are read,
//! `options` the mode's options as they stand there (an empty object where there are none). There is no case id: what a
//! system says of a question must not depend on where the question is from, and two cases with one question share the reply.
//!
//! # Reply
//!
//! ```json
//! {
//!   "results": [
//!     {"id": "p17", "text": "The lighthouse was built in 1871.", "score": 12.5, "kind": "chunk",
//!      "source": {"document_id": "harbour", "page_index": 3}, "metadata": {}}
//!   ],
//!   "answer": "In 1871.",
//!   "citations": [{"id": "citation_1", "result_id": "p17", "text": "built in 1871", "source": {}}],
//!   "metadata": {}
//! }
//! ```
//!
//! | field | |
//! |---|---|
//! | `results` | required, best first; what exceeds `top_k` is dropped |
//! | `results[].id`, `.text` | required texts; an id is not empty |
//! | `results[].score` | a finite number |
//! | `results[].kind` | a text, `chunk` where absent |
//! | `results[].source` | an object; evidence is matched by `document_id`, `source_key`, `name`, `page_index`, ... |
//! | `answer` | a text; `null` where the system declines to answer; absent where it never answers |
//! | `citations[].id` | `citation_1`, `citation_2`, ... where absent |
//! | `metadata`, `results[].metadata` | objects; kept, never read |
//!
//! `null` for an optional field counts as absent, but for `answer`. Other fields are refused, since a misspelt `sources`
//! would otherwise score 0 in silence; `metadata` is the place for what is not in the table. So is a key that is there twice,
//! and a text with the value of an environment variable that the evaluation file sends along, since a reply goes into reports.
//!
//! A system that cannot serve one query, and has no status code to say so, replies `{"error": "why"}`.
//!
//! # Replies of a command in step
//!
//! One line too many, and every later reply would be taken for the answer to the next query. So a reply of a command may
//! repeat the request's `id`, and should: a reply with another `id` is refused, and so is one without from a process that
//! repeated it before. Where no `id` is repeated, a line that nobody asked for, at any time until the process ends after
//! the end of its input, puts the earlier replies of its process in doubt: then the whole action fails.

use serde::Serialize;
use serde_json::Value;

use crate::artifact::{Answer, Citation, Hit, Json};
use crate::error::{RowError, RowErrorKind};
use crate::model::ModelUsage;
use crate::model::json_reply::{bad_reply, describe, excerpt, json};

/// Version of the protocol in the key of what a system replied: bumped when the same reply is read in another way.
pub const PROTOCOL_VERSION: u64 = 1;

/// One query.
#[derive(Debug, Clone, Serialize)]
pub struct Request<'a> {
    /// The question.
    pub query: &'a str,
    /// The query mode's name.
    pub mode: &'a str,
    /// How many results are read.
    pub top_k: u32,
    /// The mode's options.
    pub options: &'a Json,
    /// The knowledge base that is asked; none where the system takes no documents in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<&'a str>,
    /// The number of the request within its process; none over HTTP, where a connection pairs the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
}

/// What a system replied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Best first, at most `top_k`.
    pub results: Vec<Hit>,
    /// The answer with its citations, where the reply has either field.
    pub answer: Option<Answer>,
    /// What else it said.
    pub metadata: Json,
    /// What models took for it, where the system's own API tells; never in a reply of this protocol.
    pub usage: Vec<ModelUsage>,
}

impl Request<'_> {
    /// The request as compact JSON without line breaks.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RowError> {
        serde_json::to_vec(self).map_err(|error| bad_reply(format!("the request is no JSON: {error}")))
    }
}

impl Reply {
    /// Reads a reply and keeps its first `top_k` results.
    ///
    /// # Errors
    /// `bad_reply` with the field, what was expected there and what was found; `refused` for a reply that is an `error`.
    pub fn parse(bytes: &[u8], top_k: u32) -> Result<Reply, RowError> {
        Reply::of(json(bytes)?, top_k)
    }

    /// As [`Reply::parse`], of JSON that was read already.
    pub(super) fn of(value: Value, top_k: u32) -> Result<Reply, RowError> {
        let mut fields = Fields::of("the reply", value)?;
        if let Some(error) = fields.text("error")? {
            return Err(RowError::new(RowErrorKind::Refused, format!("the system says: {}", excerpt(&error))));
        }
        let results = fields.list("results")?.ok_or_else(|| fields.wrong("results", "a list", "nothing"))?;
        let results = results
            .into_iter()
            .take(top_k as usize)
            .enumerate()
            .map(|(i, value)| hit(format!("results[{i}]"), value))
            .collect::<Result<Vec<_>, _>>()?;
        let answered = fields.object.contains_key("answer");
        let text = fields.text("answer")?;
        let citations = fields.list("citations")?;
        let answer = (answered || citations.is_some())
            .then(|| {
                let citations = citations.unwrap_or_default().into_iter().enumerate().map(citation);
                Ok(Answer { text, citations: citations.collect::<Result<_, RowError>>()?, ..Answer::default() })
            })
            .transpose()?;
        let metadata = fields.map("metadata")?;
        fields.end(&["results", "answer", "citations", "metadata", "error"])?;
        Ok(Reply { results, answer, metadata, usage: Vec::new() })
    }
}

fn hit(place: String, value: Value) -> Result<Hit, RowError> {
    let mut fields = Fields::of(&place, value)?;
    let id = fields.required_text("id")?;
    if id.is_empty() {
        return Err(fields.wrong("id", "a text that is not empty", "an empty one"));
    }
    let hit = Hit {
        id,
        text: fields.required_text("text")?.into(),
        score: fields.number("score")?,
        kind: fields.text("kind")?.unwrap_or_else(|| "chunk".to_string()),
        source: fields.map("source")?.into(),
        metadata: fields.map("metadata")?,
    };
    fields.end(&["id", "text", "score", "kind", "source", "metadata"])?;
    Ok(hit)
}

fn citation((i, value): (usize, Value)) -> Result<Citation, RowError> {
    let mut fields = Fields::of(&format!("citations[{i}]"), value)?;
    let citation = Citation {
        id: fields.text("id")?.unwrap_or_else(|| format!("citation_{}", i + 1)),
        result_id: fields.text("result_id")?,
        source: fields.map("source")?,
        text: fields.text("text")?,
    };
    fields.end(&["id", "result_id", "source", "text"])?;
    Ok(citation)
}

/// The fields of an object, taken out one after the other.
struct Fields {
    place: String,
    object: Json,
}

impl Fields {
    fn of(place: &str, value: Value) -> Result<Self, RowError> {
        match value {
            Value::Object(object) => Ok(Fields { place: place.to_string(), object }),
            other => Err(bad_reply(format!("{place}: expected an object, found {}", describe(&other)))),
        }
    }

    fn wrong(&self, field: &str, expected: &str, found: &str) -> RowError {
        let name = if self.place == "the reply" { field.to_string() } else { format!("{}.{field}", self.place) };
        bad_reply(format!("{name}: expected {expected}, found {found}"))
    }

    /// The field, unless it is absent or null.
    fn take(&mut self, field: &str) -> Option<Value> {
        self.object.remove(field).filter(|value| !value.is_null())
    }

    fn text(&mut self, field: &str) -> Result<Option<String>, RowError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(field, "a text", &describe(&other))),
        }
    }

    fn required_text(&mut self, field: &str) -> Result<String, RowError> {
        self.text(field)?.ok_or_else(|| self.wrong(field, "a text", "nothing"))
    }

    fn number(&mut self, field: &str) -> Result<Option<f64>, RowError> {
        match self.take(field) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|number| number.is_finite()) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(field, "a finite number", &describe(&value))),
            },
        }
    }

    fn list(&mut self, field: &str) -> Result<Option<Vec<Value>>, RowError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(self.wrong(field, "a list", &describe(&other))),
        }
    }

    fn map(&mut self, field: &str) -> Result<Json, RowError> {
        match self.take(field) {
            None => Ok(Json::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(other) => Err(self.wrong(field, "an object", &describe(&other))),
        }
    }

    /// Refuses what was not taken.
    fn end(&self, known: &[&str]) -> Result<(), RowError> {
        match self.object.keys().find(|field| !known.contains(&field.as_str())) {
            None => Ok(()),
            Some(field) => Err(bad_reply(format!(
                "{}: unknown field {:?}: expected only {} (anything else belongs under metadata)",
                self.place,
                excerpt(field),
                known.join(", ")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> Result<Reply, RowError> {
        Reply::parse(value.to_string().as_bytes(), 10)
    }

    fn error(text: &str) -> String {
        let error = Reply::parse(text.as_bytes(), 10).expect_err("refused");
        assert_eq!(error.kind, RowErrorKind::BadReply);
        error.message
    }

    #[test]
    fn requests_are_one_line() {
        let options = Json::new();
        let request = Request {
            query: "line one\nline two",
            mode: "hybrid",
            top_k: 3,
            options: &options,
            handle: None,
            id: None,
        };
        assert_eq!(
            String::from_utf8(request.to_bytes().expect("json")).expect("utf-8"),
            r#"{"query":"line one\nline two","mode":"hybrid","top_k":3,"options":{}}"#
        );
        let with_handle = Request { handle: Some("kb"), ..request.clone() }.to_bytes().expect("json");
        assert!(with_handle.ends_with(br#""options":{},"handle":"kb"}"#));
        let numbered = Request { id: Some(7), ..request }.to_bytes().expect("json");
        assert!(numbered.ends_with(br#""options":{},"id":7}"#));
    }

    #[test]
    fn a_whole_reply() {
        let reply = parse(json!({
            "results": [
                {"id": "p17", "text": "Built in 1871.", "score": 12.5, "kind": "passage",
                 "source": {"document_id": "harbour"}, "metadata": {"rank": 1}},
                {"id": "p2", "text": "", "score": null},
            ],
            "answer": "In 1871.",
            "citations": [{"result_id": "p17", "text": "1871"}, {"id": "c"}],
            "metadata": {"tokens": 4},
        }))
        .expect("reply");
        assert_eq!(reply.results.len(), 2);
        assert_eq!(reply.results[0].source["document_id"], "harbour");
        assert_eq!((reply.results[0].score, reply.results[0].kind.as_str()), (Some(12.5), "passage"));
        assert_eq!((reply.results[1].score, reply.results[1].kind.as_str()), (None, "chunk"));
        let answer = reply.answer.expect("answer");
        assert_eq!(answer.text.as_deref(), Some("In 1871."));
        assert_eq!(answer.citations[0].id, "citation_1");
        assert_eq!(answer.citations[1].id, "c");
        assert_eq!(reply.metadata["tokens"], 4);
    }

    #[test]
    fn an_answer_may_be_absent_declined_or_empty() {
        assert_eq!(parse(json!({"results": []})).expect("reply").answer, None);
        let declined = parse(json!({"results": [], "answer": null})).expect("reply").answer.expect("field is there");
        assert_eq!(declined.text, None);
        let empty = parse(json!({"results": [], "answer": ""})).expect("reply").answer.expect("field is there");
        assert_eq!(empty.text.as_deref(), Some(""));
    }

    #[test]
    fn results_beyond_top_k_are_dropped() {
        let results: Vec<Value> = (0..5).map(|i| json!({"id": i.to_string(), "text": ""})).collect();
        let bytes = json!({"results": results}).to_string();
        let reply = Reply::parse(bytes.as_bytes(), 2).expect("reply");
        assert_eq!(reply.results.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["0", "1"]);
    }

    #[test]
    fn bad_replies_name_the_field() {
        assert_eq!(error("{}"), "results: expected a list, found nothing");
        assert_eq!(error(r#"{"results": {}}"#), "results: expected a list, found the object {}");
        assert_eq!(error(r#"{"results": [1]}"#), "results[0]: expected an object, found the number 1");
        assert_eq!(
            error(r#"{"results": [{"id": "a", "text": "x"}, {"id": 7, "text": "x"}]}"#),
            "results[1].id: expected a text, found the number 7"
        );
        assert_eq!(error(r#"{"results": [{"id": "a"}]}"#), "results[0].text: expected a text, found nothing");
        assert!(error(r#"{"results": [{"id": "", "text": ""}]}"#).starts_with("results[0].id: expected a text that"));
        assert_eq!(
            error(r#"{"results": [{"id": "a", "text": "", "score": "high"}]}"#),
            "results[0].score: expected a finite number, found the text \"high\""
        );
        assert_eq!(error(r#"{"results": [], "answer": 3}"#), "answer: expected a text, found the number 3");
        assert!(
            error(r#"{"results": [{"id": "a", "text": "", "sources": {}}]}"#).contains("unknown field \"sources\"")
        );
        assert!(error(r#"{"results": [], "citations": [{"source": 1}]}"#).starts_with("citations[0].source: expected"));
    }

    #[test]
    fn what_is_no_json_is_quoted() {
        assert!(error("<html>\n  oops").starts_with("expected one JSON object, found <html> oops: expected value"));
        assert!(error("").starts_with("expected one JSON object, found nothing"));
        assert!(error(&"x".repeat(1000)).len() < 400);
        // Not JSON: a score that is no number, or too large for one.
        error(r#"{"results": [{"id": "a", "text": "", "score": NaN}]}"#);
        error(r#"{"results": [{"id": "a", "text": "", "score": 1e999}]}"#);
        error(r#"{"results": []} {"results": []}"#);
        assert!(error(r#"{"results": [], "results": []}"#).contains("the key `results` is there twice"));
    }

    #[test]
    fn a_system_may_say_why_not() {
        let error = parse(json!({"error": "query too long"})).expect_err("refused");
        assert_eq!(error.kind, RowErrorKind::Refused);
        assert_eq!(error.message, "the system says: query too long");
    }
}
