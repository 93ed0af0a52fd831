//! JSON of open shape inside artifacts.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::DecodeError;

/// A JSON object; its keys are sorted, so its text is canonical.
pub type Json = Map<String, Value>;

/// Compact JSON text.
///
/// # Errors
/// Only through a fault of ours (a map with keys that are no texts).
pub fn to_json<T: Serialize>(value: &T) -> Result<String, DecodeError> {
    Ok(serde_json::to_string(value)?)
}

/// Reads what [`to_json`] wrote.
///
/// # Errors
/// When the text is no JSON of that type.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, DecodeError> {
    Ok(serde_json::from_str(text)?)
}
