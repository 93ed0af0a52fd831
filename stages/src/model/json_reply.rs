//! What the other side of a call said: read as JSON, or quoted in a message.

use serde_json::Value;

use crate::error::{RowError, RowErrorKind};
use crate::unique_json::UniqueJson;

/// How much of a bad reply a message quotes, in Unicode code points.
const EXCERPT_CHARS: usize = 300;

/// The JSON that the other side wrote.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, RowError> {
    serde_json::from_slice(bytes).map(|UniqueJson(value)| value).map_err(|error| {
        bad_reply(format!("expected one JSON object, found {}: {error}", excerpt(&String::from_utf8_lossy(bytes))))
    })
}

/// The class of fault of an HTTP status that is no success.
pub(crate) fn kind_of(status: u64) -> RowErrorKind {
    match status {
        401 | 403 => RowErrorKind::Auth,
        429 => RowErrorKind::RateLimited,
        408 | 500..=599 => RowErrorKind::Server,
        _ => RowErrorKind::Refused,
    }
}

/// The fault that a reply with a status of success still states as its `error`. Gateways that answer before they have asked
/// put the status that they got into its `code`.
pub(crate) fn stated_error(reply: &Value) -> Option<RowError> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    let code = error.get("code").and_then(|code| match code {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    });
    let words = match error.as_str().or_else(|| error.get("message").and_then(Value::as_str)) {
        Some(text) => text.to_string(),
        None => error.to_string(),
    };
    Some(RowError::new(kind_of(code.unwrap_or(400)), format!("the server says: {}", excerpt(&words))))
}

pub(crate) fn bad_reply(message: String) -> RowError {
    RowError::new(RowErrorKind::BadReply, message)
}

/// The start of what the other side said, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    if line.is_empty() { "nothing".to_string() } else { shortened(&line.join(" "), EXCERPT_CHARS) }
}

pub(crate) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// What a value is, with a short sample of it.
pub(crate) fn describe(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_string(),
        Value::Bool(_) => "the truth value",
        Value::Number(_) => "the number",
        Value::String(_) => "the text",
        Value::Array(_) => "the list",
        Value::Object(_) => "the object",
    };
    format!("{kind} {}", shortened(&value.to_string(), 60))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_in_a_success_has_the_class_of_its_code() {
        let stated = |error: Value| stated_error(&json!({"error": error})).map(|e| (e.kind, e.message));
        let says = |kind, words: &str| Some((kind, format!("the server says: {words}")));
        assert_eq!(stated(json!("out of lamps")), says(RowErrorKind::Refused, "out of lamps"));
        assert_eq!(stated(json!({"code": 429, "message": "slowly"})), says(RowErrorKind::RateLimited, "slowly"));
        assert_eq!(stated(json!({"code": "502", "message": "gone"})), says(RowErrorKind::Server, "gone"));
        assert_eq!(stated(json!({"code": "bad_model"})), says(RowErrorKind::Refused, r#"{"code":"bad_model"}"#));
        assert_eq!(stated(Value::Null), None);
    }
}
