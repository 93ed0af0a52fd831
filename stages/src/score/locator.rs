//! Locators: key-value pairs that must hold of a hit.

use std::borrow::Cow;

use serde_json::Value;

use super::json_equality::{Booleans, equal};
use super::python_text::python_text;
use super::source::{DOCUMENT_ID, DOCUMENT_IDS, KEY, KEYS, document_ids, texts};
use crate::artifact::{Hit, Json};

/// Whether `locator` holds of `hit`, where the two can be compared: where the locator has a value at all and the hit has at
/// least one of its own for every key. `None` where they cannot.
///
/// | key | holds when |
/// |---|---|
/// | `source_key`, `object_key` | it is one of the hit's source or object keys, in text form |
/// | `source_key_prefix` | one of those starts with it |
/// | `document_id` | it is one of the hit's document ids, in text form; those include the ids in its keys |
/// | `chunk_id` | it is the hit's own id or one of its `chunk_ids` |
/// | any other | `source` has that key with an equal value: 4 is 4.0, but neither "4" nor true |
///
/// A null in a locator says nothing and is passed over.
pub(crate) fn decide(locator: &Json, hit: &Hit) -> Option<bool> {
    let mut given = locator.iter().filter(|(_, value)| !value.is_null()).peekable();
    given.peek()?;
    given.map(|(key, value)| holds(key, value, hit)).try_fold(true, |all, one| one.map(|one| all && one))
}

fn holds(key: &str, expected: &Value, hit: &Hit) -> Option<bool> {
    let any = |values: Vec<Cow<'_, str>>, test: &dyn Fn(&str) -> bool| {
        (!values.is_empty()).then(|| values.iter().any(|value| test(value)))
    };
    let text = python_text(expected);
    match key {
        "source_key" | "object_key" => any(texts(hit, &KEY, &KEYS), &|value| value == text),
        "source_key_prefix" => any(texts(hit, &KEY, &KEYS), &|value| value.starts_with(&text)),
        "document_id" => any(document_ids(hit), &|value| value == text),
        "chunk_id" => any(chunk_ids(hit), &|value| value == text),
        other => {
            let found = hit.source.get(other).filter(|found| !found.is_null())?;
            Some(equal(found, expected, Booleans::Apart))
        }
    }
}

/// The hit's own id and those of the chunks that it was made from.
pub(crate) fn chunk_ids(hit: &Hit) -> Vec<Cow<'_, str>> {
    let own = (!hit.id.is_empty()).then_some(Cow::Borrowed(hit.id.as_str()));
    own.into_iter().chain(texts(hit, &[], &["chunk_ids"])).collect()
}

/// Whether `locator` holds of `hit` as Heta Evaluation has it (spec/heta 5.1): a null matches absence, `true` is 1, and a
/// text in `chunk_ids` is searched for substrings.
///
/// # Errors
/// Where Heta Evaluation raises: `chunk_ids` that cannot be searched.
pub(crate) fn heta_holds(locator: &Json, hit: &Hit) -> Result<bool, String> {
    let mut chunk = None;
    for (key, expected) in locator {
        let holds = match key.as_str() {
            "source_key" | "object_key" => contains(&texts(hit, &KEY, &KEYS), expected),
            "source_key_prefix" => {
                let prefix = python_text(expected);
                texts(hit, &KEY, &KEYS).iter().any(|value| value.starts_with(&prefix))
            }
            "document_id" => contains(&texts(hit, &DOCUMENT_ID, &DOCUMENT_IDS), expected),
            "chunk_id" => {
                // Last, because it alone can raise, and keys are here in another order than in the dataset's file.
                chunk = Some(expected);
                true
            }
            other => equal(hit.source.get(other).unwrap_or(&Value::Null), expected, Booleans::AreNumbers),
        };
        if !holds {
            return Ok(false);
        }
    }
    chunk.map_or(Ok(true), |expected| heta_chunk(expected, hit))
}

fn contains(values: &[Cow<'_, str>], expected: &Value) -> bool {
    let expected = python_text(expected);
    values.iter().any(|value| **value == expected)
}

fn heta_chunk(expected: &Value, hit: &Hit) -> Result<bool, String> {
    if expected.as_str() == Some(hit.id.as_str()) {
        return Ok(true);
    }
    match (hit.source.get("chunk_ids"), expected) {
        (None, _) => Ok(false),
        (Some(Value::Array(ids)), _) => Ok(ids.iter().any(|id| equal(id, expected, Booleans::AreNumbers))),
        (Some(Value::String(text)), Value::String(expected)) => Ok(text.contains(expected)),
        (Some(Value::Object(map)), _) => Ok(expected.as_str().is_some_and(|expected| map.contains_key(expected))),
        (Some(other), _) => Err(format!("chunk id {expected} cannot be looked for in chunk_ids {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hit(source: Value) -> Hit {
        serde_json::from_value(json!({"id": "c9", "text": "t", "source": source})).expect("a hit")
    }

    fn locator(value: Value) -> Json {
        serde_json::from_value(value).expect("a locator")
    }

    #[test]
    fn a_locator_decides_only_where_the_hit_has_a_value_for_every_key() {
        let raw = "raw/benchmarks/sea/test/tide/tide.txt";
        let cases = [
            (json!({}), json!({"document_id": "d"}), None),
            (json!({"section": null}), json!({"document_id": "d"}), None),
            (json!({"document_id": "d"}), json!({}), None),
            (json!({"document_id": "d"}), json!({"document_id": "d"}), Some(true)),
            (json!({"document_id": "d"}), json!({"document_id": "e"}), Some(false)),
            (json!({"document_id": 7}), json!({"document_ids": ["7"]}), Some(true)),
            (json!({"document_id": "tide"}), json!({"object_key": raw}), Some(true)),
            (json!({"document_id": "d", "page_index": 2}), json!({"document_id": "d"}), None),
            (json!({"document_id": "d", "page_index": 2}), json!({"document_id": "d", "page_index": 2.0}), Some(true)),
            (json!({"document_id": "d", "page_index": 2}), json!({"document_id": "d", "page_index": "2"}), Some(false)),
            (json!({"document_id": "d", "page_index": null}), json!({"document_id": "d"}), Some(true)),
            (json!({"page_index": 1}), json!({"page_index": true}), Some(false)),
            (json!({"source_key": raw}), json!({"object_key": raw}), Some(true)),
            (json!({"source_key_prefix": "raw/benchmarks/sea/"}), json!({"source_keys": ["x", raw]}), Some(true)),
            (json!({"source_key_prefix": "wiki/"}), json!({"source_keys": ["x", raw]}), Some(false)),
            (json!({"chunk_id": "c9"}), json!({}), Some(true)),
            (json!({"chunk_id": "c8"}), json!({"chunk_ids": ["c8"]}), Some(true)),
            (json!({"chunk_id": "c8"}), json!({"chunk_ids": "c88"}), Some(false)),
            (json!({"chunk_id": "c8"}), json!({"chunk_ids": null}), Some(false)),
        ];
        for (given, source, expected) in cases {
            assert_eq!(decide(&locator(given.clone()), &hit(source.clone())), expected, "{given} of {source}");
        }
    }

    #[test]
    fn heta_matches_absence_substrings_and_truth_values() {
        let cases = [
            (json!({"section": null}), json!({}), Ok(true)),
            (json!({"page_index": 1}), json!({"page_index": true}), Ok(true)),
            (json!({"chunk_id": "c8"}), json!({"chunk_ids": "c88"}), Ok(true)),
            (json!({"chunk_id": "c8", "document_id": "d"}), json!({"chunk_ids": null}), Ok(false)),
            (json!({"document_id": "tide"}), json!({"object_key": "raw/benchmarks/sea/test/tide/x"}), Ok(false)),
        ];
        for (given, source, expected) in cases {
            assert_eq!(heta_holds(&locator(given.clone()), &hit(source.clone())), expected, "{given} of {source}");
        }
        assert!(heta_holds(&locator(json!({"chunk_id": "c8"})), &hit(json!({"chunk_ids": null}))).is_err());
    }
}
