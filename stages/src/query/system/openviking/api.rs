//! The calls of the API that are needed, each made once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::Method;

use ragstage_cache::Digest;

use super::envelope::{Envelope, Fault};
use super::options::OpenVikingPlace;
use crate::artifact::Json;
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::{bad_reply, describe};
use crate::model::{Exchange, JsonClient, Patience};

/// More entries of a folder than anybody has: the server stops at fewer by default, and a count would not tell.
const ALL_ENTRIES: u64 = 10_000_000;

/// When something has to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    end: Option<Instant>,
    whole: Duration,
}

impl Deadline {
    /// So long from now.
    pub(super) fn after(whole: Duration) -> Self {
        Deadline { end: Instant::now().checked_add(whole), whole }
    }

    /// What is left of the time.
    pub(super) fn left(&self) -> Duration {
        self.end.map_or(self.whole, |end| end.saturating_duration_since(Instant::now()))
    }

    /// All of the time, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.whole.as_secs_f64()
    }
}

/// A server's API.
pub(super) struct Api {
    client: JsonClient,
    connect: Duration,
    read: Duration,
}

impl Api {
    /// The API of the server at `place`.
    ///
    /// # Errors
    /// As [`JsonClient::new`].
    pub(super) fn new(place: &OpenVikingPlace) -> Result<Self, String> {
        let client = JsonClient::new("the system", &place.url, &place.headers, &place.variables)?;
        Ok(Api { client, connect: place.connect_timeout, read: place.read_timeout })
    }

    fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, &[u8])>,
        read: Duration,
        deadline: &Deadline,
    ) -> Result<Envelope, Fault> {
        let whole = deadline.left();
        if whole.is_zero() {
            let message = format!("{method} {path} was not begun: {} s had passed", deadline.seconds());
            return Err(RowError::new(RowErrorKind::Timeout, message).into());
        }
        let patience = Patience { connect: self.connect.min(whole), read: read.min(whole), whole };
        let reply = self.client.exchange(&Exchange { method, path, body }, patience)?;
        let envelope = Envelope::read(&reply)
            .map_err(|fault| Fault { error: self.client.masked(fault.error.clone()), ..fault })?;
        self.client.refuse_secrets(&envelope.result)?;
        Ok(envelope)
    }

    fn get(&self, path: &str, deadline: &Deadline) -> Result<Envelope, Fault> {
        self.call(Method::GET, path, None, self.read, deadline)
    }

    fn post(&self, path: &str, body: &Value, read: Duration, deadline: &Deadline) -> Result<Envelope, Fault> {
        let bytes = serde_json::to_vec(body).map_err(|error| bad_reply(format!("the request is no JSON: {error}")))?;
        self.call(Method::POST, path, Some(("application/json", &bytes)), read, deadline)
    }

    /// The server's version. Its reply has no envelope.
    pub(super) fn version(&self, deadline: &Deadline) -> Result<String, RowError> {
        let whole = deadline.left();
        let patience = Patience { connect: self.connect.min(whole), read: self.read.min(whole), whole };
        let exchange = Exchange { method: Method::GET, path: "/health", body: None };
        let reply = self.client.exchange(&exchange, patience)?;
        let body: Option<Value> = serde_json::from_slice(&reply.bytes).ok();
        let version = body.as_ref().and_then(|body| body.get("version"));
        match version.and_then(Value::as_str).filter(|_| (200..300).contains(&reply.status)) {
            Some(version) => Ok(version.to_string()),
            None => {
                // What is no such reply has the faults of all others.
                Envelope::read(&reply).map_err(|fault| self.client.masked(fault.error))?;
                let found = version.map_or_else(|| "nothing".to_string(), describe);
                Err(self.client.masked(bad_reply(format!("{}: version: expected a text, found {found}", reply.place))))
            }
        }
    }

    /// Uploads a file and gives the id by which it is added.
    pub(super) fn upload(&self, file_name: &str, bytes: &[u8], deadline: &Deadline) -> Result<String, RowError> {
        let boundary = format!("ragstage-{:.32}", Digest::of(bytes).hex());
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file_name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let mut body = Vec::with_capacity(head.len() + bytes.len() + tail.len());
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(tail.as_bytes());
        let media_type = format!("multipart/form-data; boundary={boundary}");
        let path = "/api/v1/resources/temp_upload";
        let envelope = self.call(Method::POST, path, Some((&media_type, &body)), self.read, deadline);
        let envelope = envelope.map_err(|fault| fault.error)?;
        text(&envelope.result, "temp_file_id").map(str::to_string)
    }

    /// Adds what was uploaded. `read` is how long the reply may take.
    pub(super) fn add(&self, body: &Value, read: Option<Duration>, deadline: &Deadline) -> Result<Envelope, Fault> {
        self.post("/api/v1/resources", body, read.unwrap_or(self.read), deadline)
    }

    /// What became of a task.
    pub(super) fn task(&self, id: &str, deadline: &Deadline) -> Result<Value, Fault> {
        Ok(self.get(&format!("/api/v1/tasks/{}", percent(id)), deadline)?.result)
    }

    /// The tasks that the server remembers of `uri`, the latest first; none where it has no such list.
    pub(super) fn tasks_of(&self, uri: &str, deadline: &Deadline) -> Result<Vec<Value>, RowError> {
        match self.get(&format!("/api/v1/tasks?resource_id={}", percent(uri)), deadline) {
            Ok(Envelope { result: Value::Array(tasks), .. }) => Ok(tasks),
            Ok(_) => Ok(Vec::new()),
            Err(fault) if fault.error.kind == RowErrorKind::Refused => Ok(Vec::new()),
            Err(fault) => Err(fault.error),
        }
    }

    /// What is found for `body`, with what that took.
    pub(super) fn find(&self, body: Json, deadline: &Deadline) -> Result<Envelope, RowError> {
        self.post("/api/v1/search/find", &Value::Object(body), self.read, deadline).map_err(|fault| fault.error)
    }

    /// The whole text at `uri`.
    pub(super) fn read(&self, uri: &str, deadline: &Deadline) -> Result<String, RowError> {
        let path = format!("/api/v1/content/read?uri={}&offset=0&limit=-1", percent(uri));
        content(self.get(&path, deadline).map_err(|fault| fault.error)?.result, uri)
    }

    /// The overview of the folder at, or around, `uri`; empty where there is none.
    pub(super) fn overview(&self, uri: &str, deadline: &Deadline) -> Result<String, RowError> {
        match self.get(&format!("/api/v1/content/overview?uri={}", percent(uri)), deadline) {
            Ok(envelope) => content(envelope.result, uri),
            Err(fault) if fault.is_not_found() => Ok(String::new()),
            Err(fault) => Err(fault.error),
        }
    }

    /// The URIs of the files and folders below `uri`; `None` where there is nothing at it.
    pub(super) fn entries(&self, uri: &str, deadline: &Deadline) -> Result<Option<Vec<String>>, RowError> {
        let path = format!("/api/v1/fs/ls?uri={}&recursive=true&simple=true&node_limit={ALL_ENTRIES}", percent(uri));
        match self.get(&path, deadline) {
            Ok(Envelope { result: Value::Array(entries), .. }) => {
                let entry = |entry: Value| content(entry, uri);
                entries.into_iter().map(entry).collect::<Result<_, _>>().map(Some)
            }
            Ok(Envelope { result, .. }) => {
                Err(bad_reply(format!("the list of {uri}: expected a list, found {}", describe(&result))))
            }
            Err(fault) if fault.is_not_found() => Ok(None),
            Err(fault) => Err(fault.error),
        }
    }

    /// Removes what is at and below `uri`.
    pub(super) fn remove(&self, uri: &str, deadline: &Deadline) -> Result<(), Fault> {
        let path = format!("/api/v1/fs?uri={}&recursive=true", percent(uri));
        self.call(Method::DELETE, &path, None, self.read, deadline).map(|_| ())
    }
}

fn content(result: Value, uri: &str) -> Result<String, RowError> {
    match result {
        Value::String(text) => Ok(text),
        other => Err(bad_reply(format!("what is at {uri}: expected a text, found {}", describe(&other)))),
    }
}

/// A text that a result must have.
pub(super) fn text<'v>(result: &'v Value, field: &str) -> Result<&'v str, RowError> {
    let wrong = |found: String| bad_reply(format!("result.{field}: expected a text that is not empty, found {found}"));
    match (result, result.get(field)) {
        (_, Some(Value::String(text))) if !text.is_empty() => Ok(text),
        (Value::Object(_), None) => Err(wrong("nothing".to_string())),
        (Value::Object(_), Some(other)) => Err(wrong(describe(other))),
        (other, _) => Err(bad_reply(format!("result: expected an object, found {}", describe(other)))),
    }
}

/// The body that adds an uploaded file at `uri`.
pub(super) fn add_body(
    temp_file_id: &str,
    source_name: &str,
    uri: &str,
    wait: bool,
    processing_mode: Option<&str>,
) -> Value {
    let mut body = json!({
        "temp_file_id": temp_file_id, "source_name": source_name, "to": uri, "wait": wait, "telemetry": true,
    });
    if let Some(mode) = processing_mode {
        body["processing_mode"] = mode.into();
    }
    body
}

/// `text` as a value in a URL's query (RFC 3986, 2.1).
fn percent(text: &str) -> String {
    let byte = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || "-._~".contains(c) => c.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_urls_are_percent_encoded() {
        assert_eq!(percent("viking://resources/a b/ü.md"), "viking%3A%2F%2Fresources%2Fa%20b%2F%C3%BC.md");
    }

    #[test]
    fn the_body_has_what_is_set_alone() {
        assert_eq!(
            add_body("upload_1.zip", "docs", "viking://resources/kb", false, None),
            json!({"temp_file_id": "upload_1.zip", "source_name": "docs", "to": "viking://resources/kb", "wait": false,
                   "telemetry": true})
        );
        assert_eq!(add_body("u", "d", "v", true, Some("vectors_only"))["processing_mode"], "vectors_only");
    }

    #[test]
    fn a_text_that_is_missing_is_named() {
        let message = |value: Value| text(&value, "task_id").expect_err("no text").message;
        assert_eq!(message(Value::Null), "result: expected an object, found null");
        assert_eq!(message(json!({})), "result.task_id: expected a text that is not empty, found nothing");
        assert_eq!(message(json!({"task_id": null})), "result.task_id: expected a text that is not empty, found null");
        assert_eq!(text(&json!({"task_id": "t"}), "task_id").expect("a text"), "t");
    }
}
