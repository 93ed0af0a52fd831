//! JSON in which no object has a key twice.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::artifact::Json;

/// A JSON value. Of a key that stands twice, other readers keep the first or the last value, so the row would mean one thing
/// here and another elsewhere: it is an error, at any depth.
#[derive(Debug)]
pub(crate) struct UniqueJson(pub(crate) Value);

impl<'de> Deserialize<'de> for UniqueJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor).map(UniqueJson)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(UniqueJson(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Json::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{}` is there twice", shown(&key))));
            }
            let UniqueJson(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// The beginning of a key, for it may be of any length.
fn shown(key: &str) -> String {
    const MOST: usize = 80;
    match key.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_json() {
        let text = r#"{"a": [null, true, -1, 18446744073709551615, 1.5, "x\u00e9"], "b": {"a": {}}, "c": 1e400}"#;
        assert!(serde_json::from_str::<UniqueJson>(text).is_err(), "no number is infinite");
        let text = text.replace("1e400", "1e300");
        let found: UniqueJson = serde_json::from_str(&text).expect("json");
        assert_eq!(found.0, serde_json::from_str::<Value>(&text).expect("json"));
    }

    #[test]
    fn a_key_stands_once_at_every_depth() {
        for text in [r#"{"a": 1, "a": 1}"#, r#"{"b": {"a": 1, "c": 2, "a": 3}}"#, r#"[{"b": [{"a": 1, "\u0061": 2}]}]"#]
        {
            let error = serde_json::from_str::<UniqueJson>(text).expect_err(text).to_string();
            assert!(error.starts_with("the key `a` is there twice"), "{error}");
        }
    }
}
