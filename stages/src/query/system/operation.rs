//! What a system under test may be asked to do with a knowledge base of its own: take documents in, count them, forget them.
//! The shape of each call is in `docs/systems.md` and `docs/system.schema.json`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::artifact::Json;
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::{bad_reply, describe, excerpt};

/// What else than queries a system may be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Take documents in.
    Ingest,
    /// Count what it took in.
    Count,
    /// Forget what it took in.
    Delete,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 3] = [Operation::Ingest, Operation::Count, Operation::Delete];

    /// The name in the evaluation file, and the `op` of a command's request.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Ingest => "ingest",
            Operation::Count => "count",
            Operation::Delete => "delete",
        }
    }
}

/// A document on its way into a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestedDocument<'a> {
    /// The benchmark's id: what results should give as `source.document_id`.
    pub id: &'a str,
    /// File name.
    pub name: &'a str,
    /// Declared media type.
    pub media_type: &'a str,
    /// The document itself.
    pub bytes: &'a [u8],
}

impl IngestedDocument<'_> {
    /// As JSON: `text` where the bytes are UTF-8, else `data_base64`.
    fn json(&self) -> Value {
        let mut document = json!({"id": self.id, "name": self.name, "media_type": self.media_type});
        match std::str::from_utf8(self.bytes) {
            Ok(text) => document["text"] = text.into(),
            Err(_) => document["data_base64"] = BASE64_STANDARD.encode(self.bytes).into(),
        }
        document
    }
}

/// The request that takes documents in. `name` is a name for the knowledge base that no other documents or system have;
/// `handle` is what the first batch gave, for those that follow.
pub(crate) fn ingest_request(
    name: &str,
    system: (&str, &str),
    handle: Option<&str>,
    documents: &[IngestedDocument<'_>],
) -> Json {
    let (system, version) = system;
    let documents: Vec<Value> = documents.iter().map(IngestedDocument::json).collect();
    let mut request = Json::new();
    request.insert("name".to_string(), name.into());
    request.insert("system".to_string(), json!({"name": system, "version": version}));
    if let Some(handle) = handle {
        request.insert("handle".to_string(), handle.into());
    }
    request.insert("documents".to_string(), documents.into());
    request
}

/// The request to count or delete.
pub(crate) fn handle_request(handle: &str) -> Json {
    Json::from_iter([("handle".to_string(), handle.into())])
}

/// What a system said of documents that it took in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingested {
    /// What it calls the knowledge base, where it has a name of its own for it.
    pub handle: Option<String>,
    /// How many of what it counts are in there.
    pub count: Option<u64>,
}

impl Ingested {
    /// Reads a reply; what else is in it is the system's business.
    ///
    /// # Errors
    /// `refused` for a reply that is an `error`; `bad_reply` with the field, what was expected and what was found.
    pub(crate) fn of(reply: &Value) -> Result<Self, RowError> {
        let reply = object(reply)?;
        let handle = match reply.get("handle") {
            None | Some(Value::Null) => None,
            Some(Value::String(handle)) if !handle.is_empty() => Some(handle.clone()),
            Some(other) => {
                return Err(bad_reply(format!("handle: expected a text that is not empty, found {}", describe(other))));
            }
        };
        Ok(Ingested { handle, count: count(reply)? })
    }
}

/// Reads how many there are.
///
/// # Errors
/// As [`Ingested::of`], and when there is no count.
pub(crate) fn counted(reply: &Value) -> Result<u64, RowError> {
    count(object(reply)?)?.ok_or_else(|| bad_reply("count: expected a whole number, found nothing".to_string()))
}

/// Reads that something was done.
///
/// # Errors
/// `refused` for a reply that is an `error`.
pub(crate) fn done(reply: &Value) -> Result<(), RowError> {
    object(reply).map(|_| ())
}

fn object(reply: &Value) -> Result<&Json, RowError> {
    let Value::Object(fields) = reply else {
        return Err(bad_reply(format!("the reply: expected an object, found {}", describe(reply))));
    };
    match fields.get("error").filter(|error| !error.is_null()) {
        None => Ok(fields),
        Some(error) => {
            let error = error.as_str().map_or_else(|| error.to_string(), str::to_string);
            Err(RowError::new(RowErrorKind::Refused, format!("the system says: {}", excerpt(&error))))
        }
    }
}

fn count(reply: &Json) -> Result<Option<u64>, RowError> {
    match reply.get("count") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => Err(bad_reply(format!("count: expected a whole number, found {}", describe(value)))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_text_where_they_can_be() {
        let document = |bytes| IngestedDocument { id: "d", name: "d.bin", media_type: "text/plain", bytes };
        let request = ingest_request("kb", ("rag", "2"), Some("h"), &[document("é".as_bytes()), document(&[0xff])]);
        assert_eq!(
            Value::Object(request),
            json!({
                "name": "kb", "system": {"name": "rag", "version": "2"}, "handle": "h",
                "documents": [
                    {"id": "d", "name": "d.bin", "media_type": "text/plain", "text": "é"},
                    {"id": "d", "name": "d.bin", "media_type": "text/plain", "data_base64": "/w=="},
                ],
            })
        );
        assert_eq!(ingest_request("kb", ("rag", "2"), None, &[]).get("handle"), None);
    }

    #[test]
    fn replies_say_a_handle_and_a_count() {
        let of = |reply: Value| Ingested::of(&reply);
        let whole = Ingested { handle: Some("h".to_string()), count: Some(3) };
        assert_eq!(of(json!({"handle": "h", "count": 3, "took_ms": 5})).expect("read"), whole);
        assert_eq!(of(json!({})).expect("read"), Ingested::default());
        let message = |reply| of(reply).expect_err("refused").message;
        assert_eq!(message(json!({"handle": 3})), "handle: expected a text that is not empty, found the number 3");
        assert_eq!(message(json!({"count": -1})), "count: expected a whole number, found the number -1");
        assert_eq!(message(json!([])), "the reply: expected an object, found the list []");
        let error = of(json!({"error": "disk full"})).expect_err("refused");
        assert_eq!((error.kind, error.message.as_str()), (RowErrorKind::Refused, "the system says: disk full"));
        assert_eq!(counted(&json!({"count": 0})).expect("read"), 0);
        assert_eq!(counted(&json!({})).expect_err("none").message, "count: expected a whole number, found nothing");
        assert!(done(&json!({"error": null})).is_ok() && done(&json!({"error": {"code": 1}})).is_err());
    }

    #[test]
    fn requests_are_those_of_the_schema() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../docs/system.schema.json")).expect("the schema is JSON");
        let document = IngestedDocument { id: "d", name: "d.txt", media_type: "text/plain", bytes: b"x" };
        let ingest = ingest_request("kb", ("rag", "2"), Some("h"), &[document]);
        let fields = |value: &Value| -> Vec<String> {
            value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
        };
        for (name, request) in [
            ("ingest_request", Value::Object(ingest)),
            ("document", document.json()),
            ("count_request", Value::Object(handle_request("h"))),
            ("delete_request", Value::Object(handle_request("h"))),
        ] {
            let definition = &schema["$defs"][name];
            let known = fields(&definition["properties"]);
            assert!(fields(&request).iter().all(|field| known.contains(field)), "{name}: {request}");
            let required = definition["required"].as_array().expect("required");
            assert!(required.iter().all(|field| request.get(field.as_str().unwrap_or_default()).is_some()), "{name}");
        }
    }
}
