//! What every reply of the API is wrapped in.

use serde_json::Value;

use crate::error::{RowError, RowErrorKind};
use crate::model::Exchanged;
use crate::model::json_reply::{bad_reply, describe, excerpt, json, kind_of};

/// A reply that states success.
pub(super) struct Envelope {
    /// What was asked for; null where the reply has none.
    pub(super) result: Value,
    /// What the operation took, beside the result.
    pub(super) telemetry: Option<Value>,
}

/// A request that came to nothing.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// What it is to a row.
    pub(super) error: RowError,
    /// The API's name of it, e.g. `NOT_FOUND`.
    pub(super) code: Option<String>,
    /// The task that goes on nevertheless, where the server gave up waiting for it.
    pub(super) task: Option<String>,
}

impl Fault {
    /// Whether what was asked for is not there.
    pub(super) fn is_not_found(&self) -> bool {
        self.code.as_deref() == Some("NOT_FOUND")
    }

    /// Whether the place is being written to by somebody else, so that another attempt may help.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.code.as_deref(), Some("CONFLICT" | "ABORTED")) && self.error.kind.retryable()
    }
}

impl From<RowError> for Fault {
    fn from(error: RowError) -> Self {
        Fault { error, code: None, task: None }
    }
}

impl Envelope {
    /// Reads a reply.
    ///
    /// # Errors
    /// For a reply that states an error, whatever its status, and for a status that is no success: what its code, else its
    /// status, stands for. `bad_reply` for a success that is no envelope.
    pub(super) fn read(reply: &Exchanged) -> Result<Envelope, Fault> {
        let success = (200..300).contains(&reply.status);
        let of_status = || {
            let said = excerpt(&String::from_utf8_lossy(&reply.bytes));
            let kind = kind_of(u64::from(reply.status));
            let message = format!("{} replied {}: {said}", reply.place, reply.status);
            RowError { retry_after_s: reply.retry_after_s, ..RowError::new(kind, message) }
        };
        let mut fields = match json(&reply.bytes) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) | Err(_) if !success => return Err(of_status().into()),
            Ok(other) => {
                let found = describe(&other);
                return Err(bad_reply(format!("{}: expected an object, found {found}", reply.place)).into());
            }
            Err(error) => {
                return Err(RowError { message: format!("{}: {}", reply.place, error.message), ..error }.into());
            }
        };
        let status = fields.get("status").and_then(Value::as_str);
        match fields.get("error").filter(|error| !error.is_null()) {
            Some(error) => return Err(stated(reply, success, error)),
            None if status == Some("error") => return Err(stated(reply, success, &Value::Null)),
            None if !success => return Err(of_status().into()),
            None if status != Some("ok") => {
                let found = fields.get("status").map_or_else(|| "nothing".to_string(), describe);
                return Err(bad_reply(format!("{}: status: expected \"ok\", found {found}", reply.place)).into());
            }
            None => {}
        }
        let telemetry = fields.remove("telemetry").filter(|telemetry| !telemetry.is_null());
        Ok(Envelope { result: fields.remove("result").unwrap_or(Value::Null), telemetry })
    }
}

/// The fault that a reply states as its `error`.
fn stated(reply: &Exchanged, success: bool, error: &Value) -> Fault {
    let text = |field: &str| error.get(field).and_then(Value::as_str);
    let code = text("code").map(str::to_string);
    let details = error.get("details");
    let retryable = details.and_then(|details| details.get("retryable")).and_then(Value::as_bool);
    let by_status = if success { RowErrorKind::Refused } else { kind_of(u64::from(reply.status)) };
    let kind = code.as_deref().and_then(|code| kind_of_code(code, retryable)).unwrap_or(by_status);
    let words = match (error.as_str().or_else(|| text("message")), error) {
        (Some(words), _) => excerpt(words),
        (None, Value::Null) => "an error without a word".to_string(),
        (None, error) => excerpt(&error.to_string()),
    };
    let code_words = code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
    let status = if success { String::new() } else { format!(" {}", reply.status) };
    let message = format!("{} replied{status}: {code_words}{words}", reply.place);
    let task = details.and_then(|details| details.get("task_id")).and_then(Value::as_str).map(str::to_string);
    Fault { error: RowError { retry_after_s: reply.retry_after_s, ..RowError::new(kind, message) }, code, task }
}

/// The class of fault of a code of the API; `None` for one that is not known.
fn kind_of_code(code: &str, retryable: Option<bool>) -> Option<RowErrorKind> {
    Some(match code {
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => RowErrorKind::Auth,
        "RESOURCE_EXHAUSTED" => RowErrorKind::RateLimited,
        "CONFLICT" | "ABORTED" if retryable == Some(false) => RowErrorKind::Refused,
        "CONFLICT" | "ABORTED" => RowErrorKind::Server,
        "INTERNAL" | "UNKNOWN" | "NOT_INITIALIZED" | "UNAVAILABLE" | "DEADLINE_EXCEEDED" | "EMBEDDING_FAILED"
        | "VLM_FAILED" => RowErrorKind::Server,
        // What it makes of these bytes will fail again, and was paid for.
        "PROCESSING_ERROR" => RowErrorKind::Refused,
        "INVALID_ARGUMENT"
        | "INVALID_URI"
        | "NOT_FOUND"
        | "ALREADY_EXISTS"
        | "SESSION_EXPIRED"
        | "FAILED_PRECONDITION"
        | "UNIMPLEMENTED" => RowErrorKind::Refused,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(status: u16, body: &str) -> Result<Envelope, Fault> {
        Envelope::read(&Exchanged {
            place: "POST http://a/x".to_string(),
            status,
            retry_after_s: Some(7),
            bytes: body.as_bytes().to_vec(),
        })
    }

    fn fault(status: u16, body: &str) -> (RowErrorKind, String) {
        let fault = read(status, body).err().expect("a fault");
        (fault.error.kind, fault.error.message)
    }

    #[test]
    fn a_success_has_a_result_and_perhaps_telemetry() {
        let read = |body: Value| read(200, &body.to_string()).expect("a success");
        let envelope = read(json!({"status": "ok", "result": [1], "telemetry": {"id": "tm"}, "profile": null}));
        assert_eq!((envelope.result, envelope.telemetry), (json!([1]), Some(json!({"id": "tm"}))));
        let envelope = read(json!({"status": "ok", "result": null, "error": null, "telemetry": null}));
        assert_eq!((envelope.result, envelope.telemetry), (Value::Null, None));
    }

    #[test]
    fn faults_have_the_class_of_their_code_whatever_the_status() {
        let stated = |status: u16, code: &str, details: Value| {
            let body = json!({"status": "error", "error": {"code": code, "message": "no", "details": details}});
            read(status, &body.to_string()).err().expect("a fault")
        };
        let kind = |status, code: &str| stated(status, code, json!({})).error.kind;
        assert_eq!(kind(200, "UNAUTHENTICATED"), RowErrorKind::Auth);
        assert_eq!(kind(200, "RESOURCE_EXHAUSTED"), RowErrorKind::RateLimited);
        assert_eq!(kind(200, "INTERNAL"), RowErrorKind::Server);
        assert_eq!(kind(500, "PROCESSING_ERROR"), RowErrorKind::Refused);
        assert_eq!(kind(200, "SOMETHING_NEW"), RowErrorKind::Refused);
        assert_eq!(kind(503, "SOMETHING_NEW"), RowErrorKind::Server);
        let busy = stated(409, "CONFLICT", json!({"retryable": true, "conflict_type": "path_busy"}));
        assert!(busy.is_busy());
        assert_eq!(busy.error.message, "POST http://a/x replied 409: CONFLICT: no");
        assert!(!stated(409, "CONFLICT", json!({"retryable": false})).is_busy());
        assert!(!stated(409, "ALREADY_EXISTS", json!({})).is_busy());
        assert!(stated(404, "NOT_FOUND", json!(null)).is_not_found());
        let late = stated(504, "DEADLINE_EXCEEDED", json!({"task_id": "t1"}));
        assert_eq!((late.error.kind, late.task.as_deref()), (RowErrorKind::Server, Some("t1")));
        assert_eq!(late.error.retry_after_s, Some(7));
    }

    #[test]
    fn what_is_no_envelope_is_quoted() {
        assert_eq!(
            fault(502, "<html>bad gateway"),
            (RowErrorKind::Server, "POST http://a/x replied 502: <html>bad gateway".to_string())
        );
        assert_eq!(fault(429, "[]").0, RowErrorKind::RateLimited);
        assert_eq!(fault(401, "").0, RowErrorKind::Auth);
        let (kind, message) = fault(200, "<html>");
        assert_eq!(kind, RowErrorKind::BadReply);
        assert!(message.starts_with("POST http://a/x: expected one JSON object, found <html>"), "{message}");
        assert_eq!(fault(200, "[]").1, "POST http://a/x: expected an object, found the list []");
        assert_eq!(fault(200, "{}").1, "POST http://a/x: status: expected \"ok\", found nothing");
        assert_eq!(fault(200, r#"{"status": null}"#).1, "POST http://a/x: status: expected \"ok\", found null");
        assert_eq!(fault(200, r#"{"status": "error"}"#).1, "POST http://a/x replied: an error without a word");
        assert_eq!(fault(200, r#"{"status": "error", "error": "full"}"#).1, "POST http://a/x replied: full");
        assert_eq!(fault(500, r#"{"status": "ok", "result": 1}"#).0, RowErrorKind::Server);
    }
}
