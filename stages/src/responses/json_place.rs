//! A JSON file as a whole, and errors that say where in it.

use std::path::Path;

use serde_json::Value;

use crate::error::{InputError, Place};
use crate::unique_json::UniqueJson;

/// The JSON in `bytes`; a byte order mark is no part of it.
pub(super) fn whole(path: &Path, bytes: &[u8]) -> Result<Value, InputError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        Ok(UniqueJson(value)) => Ok(value),
        Err(error) => {
            let place = Place::at(path, error.line().max(1) as u64, error.column().max(1) as u64);
            Err(InputError::new(place, format!("no JSON: {error}")).hint("the file may be cut off; write it again"))
        }
    }
}

/// What is wrong at `pointer`, a JSON pointer.
pub(super) fn fault(path: &Path, pointer: &str, message: &str) -> InputError {
    InputError::new(Place::file(path), format!("{message} at {pointer}"))
}

/// What a value is, for messages.
pub(super) fn found(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_string(),
        Some(Value::Object(_)) => "an object".to_string(),
        Some(Value::Array(_)) => "a list".to_string(),
        Some(other) => other.to_string().chars().take(60).collect(),
    }
}

/// The list at `key` of an object.
pub(super) fn list<'a>(path: &Path, object: &'a Value, key: &str) -> Result<&'a Vec<Value>, InputError> {
    if !object.is_object() {
        let message = format!("expected an object with a list `{key}`, found {}", found(Some(object)));
        return Err(InputError::new(Place::file(path), message).hint("is it the file that is meant?"));
    }
    let value = object.get(key);
    value.and_then(Value::as_array).ok_or_else(|| {
        let fault = fault(path, &format!("/{key}"), &format!("expected a list, found {}", found(value)));
        fault.hint("is it the file that is meant, and whole?")
    })
}
