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
