//! Locators: key-value pairs that must hold of a hit.

use std::borrow::Cow;

use serde_json::Value;

use super::json_equality::{Booleans, equal};
use super::python_text::python_text;
use super::source::{DOCUMENT_ID, DOCUMENT_IDS, KEY, KEYS, document_ids, texts};
use crate::artifact::{Hit, Json};

/// The key of the places where the gold text stands.
const SPANS: &str = "spans";

/// Whether the places of the gold text are what `locator` says: then a hit of which it holds has the text, whatever is
/// around it.
pub(crate) fn says_where(locator: &Json) -> bool {
    locator.get(SPANS).is_some_and(|spans| !spans.is_null())
}

/// A range of a text, never empty.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

impl Span {
    fn new(start: u64, end: u64) -> Option<Self> {
        (start < end).then_some(Span { start, end })
    }

    fn read(value: &Value) -> Option<Self> {
        match value.as_array()?.as_slice() {
            [start, end] => Span::new(start.as_u64()?, end.as_u64()?),
            _ => None,
        }
    }

    fn length(self) -> u64 {
        self.end - self.start
    }

    /// Whether the two have at least half of the shorter one in common.
    fn is_mostly_in(self, other: Span) -> bool {
        let common = self.end.min(other.end).saturating_sub(self.start.max(other.start));
        common >= self.length().min(other.length()).div_ceil(2)
    }
}

/// Whether `locator` holds of `hit`, where the two can be compared: where the locator has a value at all and the hit has at
/// least one of its own for every key. `None` where they cannot.
///
/// | key | holds when |
/// |---|---|
/// | `source_key`, `object_key` | it is one of the hit's source or object keys, in text form |
/// | `source_key_prefix` | one of those starts with it |
/// | `document_id` | it is one of the hit's document ids, in text form; those include the ids in its keys |
/// | `chunk_id` | it is the hit's own id or one of its `chunk_ids` |
/// | `spans` | the hit's `start` to `end` and one of these ranges have at least half of the shorter of the two in common |
/// | any other | `source` has that key with an equal value: 4 is 4.0, but neither "4" nor true |
///
/// `spans` is a list of `[start, end]`, in Unicode code points of the page (of the document, where it has one page only), end
/// exclusive: where the gold text stands. Half, since a chunk's end may fall into the text: then it is where most of it is.
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
        "document_id" => any(document_ids(hit).collect(), &|value| value == text),
        "chunk_id" => any(chunk_ids(hit), &|value| value == text),
        SPANS => {
            let position = |name: &str| hit.source.get(name).and_then(Value::as_u64);
            let hit = Span::new(position("start")?, position("end")?)?;
            let spans = expected.as_array()?.iter().filter_map(Span::read);
            Some(spans.into_iter().any(|span| span.is_mostly_in(hit)))
        }
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
            (json!({"spans": [[10, 20]]}), json!({"start": 10, "end": 20}), Some(true)),
            (json!({"spans": [[10, 20]]}), json!({"start": 0, "end": 500}), Some(true)),
            (json!({"spans": [[10, 500]]}), json!({"start": 40, "end": 50}), Some(true)),
            // Half is enough, on both sides of a cut; less is not.
            (json!({"spans": [[10, 20]]}), json!({"start": 0, "end": 15}), Some(true)),
            (json!({"spans": [[10, 20]]}), json!({"start": 15, "end": 40}), Some(true)),
            (json!({"spans": [[10, 21]]}), json!({"start": 0, "end": 15}), Some(false)),
            (json!({"spans": [[10, 20]]}), json!({"start": 20, "end": 40}), Some(false)),
            (json!({"spans": [[10, 20], [60, 70]]}), json!({"start": 55, "end": 99}), Some(true)),
            (
                json!({"document_id": "d", "spans": [[0, 9]]}),
                json!({"document_id": "e", "start": 0, "end": 9}),
                Some(false),
            ),
            // A hit that does not say where it is from, or says it in other words.
            (json!({"document_id": "d", "spans": [[0, 9]]}), json!({"document_id": "d"}), None),
            (json!({"spans": [[0, 9]]}), json!({"start": "0", "end": 9}), None),
            (json!({"spans": [[0, 9]]}), json!({"start": 9, "end": 9}), None),
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
