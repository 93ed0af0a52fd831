//! JSON of open shape inside artifacts.

use std::borrow::Cow;

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

/// The object of `text`. Most of them are empty, and a parser takes longer to say so.
///
/// # Errors
/// As [`from_json`].
pub(crate) fn object(text: &str) -> Result<Json, DecodeError> {
    if text == "{}" { Ok(Json::new()) } else { from_json(text) }
}

/// The list of `text`, most of which are empty too.
///
/// # Errors
/// As [`from_json`].
pub(crate) fn list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, DecodeError> {
    if text == "[]" { Ok(Vec::new()) } else { from_json(text) }
}

/// The text of an object.
///
/// # Errors
/// As [`to_json`].
pub(crate) fn object_text(object: &Json) -> Result<Cow<'static, str>, DecodeError> {
    if object.is_empty() { Ok(Cow::Borrowed("{}")) } else { to_json(object).map(Cow::Owned) }
}
