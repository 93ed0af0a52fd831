//! Serde for values behind an `Arc`, written as the values themselves.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::json::Json;

/// Writes the value.
pub(super) fn serialize<T: Serialize + ?Sized, S: Serializer>(
    value: &Arc<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (**value).serialize(serializer)
}

/// Reads a text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(deserializer).map(Arc::from)
}

/// Reads an object.
pub(super) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Json>, D::Error> {
    Json::deserialize(deserializer).map(Arc::new)
}
