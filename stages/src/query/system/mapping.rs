//! How an endpoint that was there before is spoken to without a shim: a template of its requests, and where things are in
//! its replies.

use ragstage_cache::key::walk_json;
use ragstage_cache::{KeyVisitor, Walk};
use serde_json::Value;

use super::protocol::{Reply, Request};
use crate::artifact::{Answer, Hit, Json};
use crate::error::RowError;
use crate::model::json_reply::{bad_reply, describe};

/// Version of mapping and template in the key of what a mapped system replied: bumped when the same reply is read, or the
/// same request written, in another way.
const MAPPING_VERSION: u64 = 1;

/// What may stand for a value in a [`RequestTemplate`], in double braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// The question, a text.
    Query,
    /// How many results are read, a number.
    TopK,
    /// The query mode's name, a text.
    Mode,
    /// The mode's options, an object.
    Options,
    /// The knowledge base that was made of the unit's documents, a text; `null` for a system that takes none in.
    Handle,
}

impl Placeholder {
    /// All of them.
    pub const ALL: [Placeholder; 5] =
        [Placeholder::Query, Placeholder::TopK, Placeholder::Mode, Placeholder::Options, Placeholder::Handle];

    /// As a template has it.
    pub fn text(self) -> &'static str {
        match self {
            Placeholder::Query => "{{query}}",
            Placeholder::TopK => "{{top_k}}",
            Placeholder::Mode => "{{mode}}",
            Placeholder::Options => "{{options}}",
            Placeholder::Handle => "{{handle}}",
        }
    }

    fn of(text: &str) -> Option<Placeholder> {
        Placeholder::ALL.into_iter().find(|placeholder| placeholder.text() == text)
    }
}

/// The body of a request: JSON in which a text that is a placeholder as a whole stands for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTemplate(pub Value);

impl RequestTemplate {
    /// Whether the placeholder is somewhere in it.
    pub fn has(&self, placeholder: Placeholder) -> bool {
        fn within(value: &Value, text: &str) -> bool {
            match value {
                Value::String(found) => found == text,
                Value::Array(items) => items.iter().any(|item| within(item, text)),
                Value::Object(fields) => fields.values().any(|field| within(field, text)),
                _ => false,
            }
        }
        within(&self.0, placeholder.text())
    }

    /// The first text with braces that is no placeholder as a whole, so that nothing would take its place.
    pub fn misspelt(&self) -> Option<&str> {
        fn within(value: &Value) -> Option<&str> {
            match value {
                Value::String(text) if text.contains("{{") && Placeholder::of(text).is_none() => Some(text),
                Value::Array(items) => items.iter().find_map(within),
                Value::Object(fields) => fields.values().find_map(within),
                _ => None,
            }
        }
        within(&self.0)
    }

    /// The body for one request.
    pub(super) fn fill(&self, request: &Request<'_>) -> Value {
        fn filled(value: &Value, request: &Request<'_>) -> Value {
            match value {
                Value::String(text) => match Placeholder::of(text) {
                    Some(Placeholder::Query) => request.query.into(),
                    Some(Placeholder::TopK) => request.top_k.into(),
                    Some(Placeholder::Mode) => request.mode.into(),
                    Some(Placeholder::Options) => Value::Object(request.options.clone()),
                    Some(Placeholder::Handle) => request.handle.map_or(Value::Null, Value::from),
                    None => value.clone(),
                },
                Value::Array(items) => items.iter().map(|item| filled(item, request)).collect(),
                Value::Object(fields) => {
                    fields.iter().map(|(name, field)| (name.clone(), filled(field, request))).collect::<Json>().into()
                }
                other => other.clone(),
            }
        }
        filled(&self.0, request)
    }
}

/// Where things are in a reply, as JSON pointers (RFC 6901): `results` and `answer` from the reply's root, the others from
/// each result. What is nowhere in a pointer is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMapping {
    /// The list of results, best first.
    pub results: String,
    /// The result's id, a text or a whole number.
    pub id: String,
    /// The result's text.
    pub text: String,
    /// The result's score, a number.
    pub score: String,
    /// The benchmark's id of the document that the result is from, a text or a whole number.
    pub document_id: String,
    /// Where the result is from: an object, or a text that is its name.
    pub source: String,
    /// The answer, a text.
    pub answer: String,
}

impl Default for ResponseMapping {
    /// Where the protocol has them.
    fn default() -> Self {
        let pointer = |text: &str| text.to_string();
        ResponseMapping {
            results: pointer("/results"),
            id: pointer("/id"),
            text: pointer("/text"),
            score: pointer("/score"),
            document_id: pointer("/source/document_id"),
            source: pointer("/source"),
            answer: pointer("/answer"),
        }
    }
}

impl ResponseMapping {
    /// Reads a reply and keeps its first `top_k` results.
    ///
    /// # Errors
    /// `bad_reply` with the pointer, what was expected there and what was found.
    pub fn read(&self, value: &Value, top_k: u32) -> Result<Reply, RowError> {
        let results = match value.pointer(&self.results) {
            Some(Value::Array(results)) => results,
            other => return Err(wrong(&self.results, "", "a list", other)),
        };
        let results = results.iter().take(top_k as usize).enumerate();
        let results =
            results.map(|(i, result)| self.hit(&format!(" of result {i}"), result)).collect::<Result<_, _>>()?;
        let answer = match value.pointer(&self.answer) {
            None => None,
            Some(Value::Null) => Some(Answer::default()),
            Some(Value::String(text)) => Some(Answer { text: Some(text.clone()), ..Answer::default() }),
            other => return Err(wrong(&self.answer, "", "a text", other)),
        };
        Ok(Reply { results, answer, ..Reply::default() })
    }

    fn hit(&self, place: &str, result: &Value) -> Result<Hit, RowError> {
        let mut source = match result.pointer(&self.source) {
            None | Some(Value::Null) => Json::new(),
            Some(Value::Object(source)) => source.clone(),
            Some(Value::String(name)) => Json::from_iter([("name".to_string(), name.as_str().into())]),
            other => return Err(wrong(&self.source, place, "an object or a text", other)),
        };
        if let Some(document_id) = name_at(result, &self.document_id, place)? {
            source.insert("document_id".to_string(), document_id.into());
        }
        let id = name_at(result, &self.id, place)?.filter(|id| !id.is_empty());
        let text = match result.pointer(&self.text) {
            Some(Value::String(text)) => text.clone(),
            other => return Err(wrong(&self.text, place, "a text", other)),
        };
        let score = match result.pointer(&self.score) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) => number.as_f64().filter(|number| number.is_finite()),
            other => return Err(wrong(&self.score, place, "a number", other)),
        };
        Ok(Hit {
            id: id.ok_or_else(|| wrong(&self.id, place, "a text that is not empty", result.pointer(&self.id)))?,
            text: text.into(),
            score,
            kind: "chunk".to_string(),
            source: source.into(),
            metadata: Json::new(),
        })
    }
}

/// A text or a whole number at a pointer; nothing where there is nothing.
fn name_at(value: &Value, pointer: &str, place: &str) -> Result<Option<String>, RowError> {
    match value.pointer(pointer) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(Some(number.to_string())),
        other => Err(wrong(pointer, place, "a text or a whole number", other)),
    }
}

fn wrong(pointer: &str, place: &str, expected: &str, found: Option<&Value>) -> RowError {
    let found = found.map_or_else(|| "nothing".to_string(), describe);
    let pointer = if pointer.is_empty() { "the root" } else { pointer };
    bad_reply(format!("{pointer}{place}: expected {expected}, found {found}"))
}

/// How a system is spoken to, where that is not the protocol's own way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    /// The body of a request; the protocol's where absent.
    pub request: Option<RequestTemplate>,
    /// How a reply is read; as the protocol's where absent.
    pub response: Option<ResponseMapping>,
}

impl Mapping {
    /// Whether there is neither.
    pub fn is_empty(&self) -> bool {
        self.request.is_none() && self.response.is_none()
    }
}

impl Walk for Mapping {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("mapping", "mapping");
        v.uint("mapping_version", MAPPING_VERSION);
        if let Some(RequestTemplate(template)) = &self.request {
            walk_json(v, "request", template);
        }
        if let Some(response) = &self.response {
            v.begin_record("response", "response_mapping");
            for (name, pointer) in [
                ("results", &response.results),
                ("id", &response.id),
                ("text", &response.text),
                ("score", &response.score),
                ("document_id", &response.document_id),
                ("source", &response.source),
                ("answer", &response.answer),
            ] {
                v.text(name, pointer);
            }
            v.end();
        }
        v.end();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping() -> ResponseMapping {
        ResponseMapping {
            results: "/data/hits".to_string(),
            text: "/page~1content".to_string(),
            document_id: "/meta/doc".to_string(),
            source: "/meta/file".to_string(),
            answer: "/data/reply".to_string(),
            ..ResponseMapping::default()
        }
    }

    #[test]
    fn a_reply_of_another_shape_is_read_where_the_pointers_say() {
        let reply = json!({
            "took": 3,
            "data": {
                "reply": "In 1871.",
                "hits": [
                    {"id": 17, "page/content": "Built in 1871.", "score": 2, "meta": {"doc": "light", "file": "l.pdf"}},
                    {"id": "b", "page/content": "", "vector": [1.0], "meta": null},
                    {"id": "c", "page/content": "beyond"},
                ],
            },
        });
        let read = mapping().read(&reply, 2).expect("a reply");
        assert_eq!(read.results.len(), 2);
        let first = &read.results[0];
        assert_eq!((first.id.as_str(), &*first.text, first.score), ("17", "Built in 1871.", Some(2.0)));
        assert_eq!((&first.source["document_id"], &first.source["name"]), (&json!("light"), &json!("l.pdf")));
        assert_eq!(read.answer.and_then(|answer| answer.text).as_deref(), Some("In 1871."));
        assert!(read.results[1].source.is_empty());
        // The whole reply may be the list.
        let bare = ResponseMapping { results: String::new(), ..ResponseMapping::default() };
        let read = bare.read(&json!([{"id": "a", "text": "x"}]), 5).expect("a reply");
        assert_eq!((read.results[0].id.as_str(), read.answer), ("a", None));
    }

    #[test]
    fn what_is_not_there_is_named_by_its_pointer() {
        let error = |reply: Value| mapping().read(&reply, 5).expect_err("refused").message;
        assert_eq!(error(json!({})), "/data/hits: expected a list, found nothing");
        assert_eq!(
            error(json!({"data": {"hits": [{"id": "a", "page/content": 7}]}})),
            "/page~1content of result 0: expected a text, found the number 7"
        );
        assert_eq!(
            error(json!({"data": {"hits": [{"page/content": ""}]}})),
            "/id of result 0: expected a text that is not empty, found nothing"
        );
        assert_eq!(
            error(json!({"data": {"hits": [], "reply": 1}})),
            "/data/reply: expected a text, found the number 1"
        );
    }

    #[test]
    fn a_template_is_filled_with_whole_values() {
        let options = Json::from_iter([("rerank".to_string(), true.into())]);
        let request =
            Request { query: "{{mode}}?", mode: "fast", top_k: 3, options: &options, handle: Some("kb1"), id: None };
        let template = RequestTemplate(json!({
            "input": {"q": "{{query}}", "limits": [{"k": "{{top_k}}"}]}, "collection": "{{handle}}",
            "mode": "{{mode}}", "options": "{{options}}", "stream": false,
        }));
        assert_eq!(
            template.fill(&request),
            json!({
                "input": {"q": "{{mode}}?", "limits": [{"k": 3}]}, "collection": "kb1", "mode": "fast",
                "options": {"rerank": true}, "stream": false,
            })
        );
        assert!(template.has(Placeholder::Query) && template.has(Placeholder::Handle));
        assert_eq!(template.misspelt(), None);
        let wrong = RequestTemplate(json!({"q": ["Q: {{query}}"]}));
        assert_eq!((wrong.misspelt(), wrong.has(Placeholder::Query)), (Some("Q: {{query}}"), false));
    }
}
