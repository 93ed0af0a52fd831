//! What led to a score.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::json::{Json, object};
use crate::error::DecodeError;

/// What led to a score: a JSON object, e.g. with `matched`, `expected`, `matched_reference_ids`. Of a million scores hardly one is
/// looked at again, so it may be the text of the object from the start.
#[derive(Debug, Clone)]
pub struct Detail(Form);

#[derive(Debug, Clone)]
enum Form {
    Object(Json),
    /// Compact, with its keys sorted: as the object would be written.
    Text(String),
}

impl Detail {
    /// Nothing.
    pub fn new() -> Self {
        Detail(Form::Object(Json::new()))
    }

    /// The object that `fields` is, a struct whose fields are in the order of their names.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub(crate) fn of_sorted_fields(fields: &impl Serialize) -> Result<Self, DecodeError> {
        let detail = Detail(Form::Text(serde_json::to_string(fields)?));
        debug_assert!(detail.object().is_ok_and(|object| Detail::from(object.into_owned()).is_written_as(&detail)));
        Ok(detail)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::Object(object) => object.is_empty(),
            Form::Text(text) => text == "{}",
        }
    }

    /// The object.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn object(&self) -> Result<Cow<'_, Json>, DecodeError> {
        match &self.0 {
            Form::Object(object) => Ok(Cow::Borrowed(object)),
            Form::Text(text) => object(text).map(Cow::Owned),
        }
    }

    /// The value of the field `name`.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.object().ok()?.get(name).cloned()
    }

    /// Appends the compact text to `text`.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn write(&self, text: &mut Vec<u8>) -> Result<(), DecodeError> {
        match &self.0 {
            Form::Object(object) => serde_json::to_writer(text, object)?,
            Form::Text(own) => text.extend_from_slice(own.as_bytes()),
        }
        Ok(())
    }

    fn is_written_as(&self, other: &Detail) -> bool {
        let text = |detail: &Detail| {
            let mut text = Vec::new();
            detail.write(&mut text).ok().map(|()| text)
        };
        text(self) == text(other)
    }
}

impl Default for Detail {
    fn default() -> Self {
        Detail::new()
    }
}

impl From<Json> for Detail {
    fn from(object: Json) -> Self {
        Detail(Form::Object(object))
    }
}

impl PartialEq for Detail {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Object(one), Form::Object(other)) => one == other,
            _ => self.is_written_as(other),
        }
    }
}

impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer).map(Detail::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Fields<'a> {
        answer: &'a str,
        precision: f64,
    }

    #[test]
    fn a_text_is_the_object_that_it_says() {
        let text = Detail::of_sorted_fields(&Fields { answer: "é \"x\"\n", precision: 2.0 / 3.0 }).expect("a detail");
        let object = Detail::from(text.object().expect("an object").into_owned());
        assert_eq!(object.get("precision"), Some(json!(2.0 / 3.0)));
        assert_eq!(text, object);
        assert_eq!(serde_json::to_string(&text).expect("json"), serde_json::to_string(&object).expect("json"));
        let back: Detail = serde_json::from_value(json!(text)).expect("a detail");
        assert_eq!((back, text.is_empty(), Detail::new().is_empty()), (object, false, true));
        assert_ne!(text, Detail::new());
    }
}
