//! Where a hit is from: the ids that its source carries.
//!
//! A hit has up to three sources, read in this order: `source`, `source.origin` (what a derived page was made from), and
//! `metadata.origin_source_key` as the key of a third. Ids may stand alone (`document_id`) or in a list (`document_ids`).

use std::borrow::Cow;

use serde_json::Value;

use super::python_text::python_text;
use crate::artifact::{Hit, Json};
use crate::python::is_whitespace;

/// Fields that hold keys of the object store; `source_key` and `object_key` mean the same.
pub(crate) const KEY: [&str; 2] = ["source_key", "object_key"];
/// As [`KEY`], in lists.
pub(crate) const KEYS: [&str; 2] = ["source_keys", "object_keys"];
/// The field of a document id.
pub(crate) const DOCUMENT_ID: [&str; 1] = ["document_id"];
/// As [`DOCUMENT_ID`], in lists.
pub(crate) const DOCUMENT_IDS: [&str; 1] = ["document_ids"];
/// Fields that hold the benchmark's own document id, whatever the system calls its documents.
pub(crate) const BENCHMARK_ID: [&str; 2] = ["beir_document_id", "benchmark_document_id"];
/// As [`BENCHMARK_ID`], in lists.
pub(crate) const BENCHMARK_IDS: [&str; 2] = ["beir_document_ids", "benchmark_document_ids"];

/// One source of a hit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// An object of fields.
    Fields(&'a Json),
    /// An `object_key` and nothing else.
    Key(&'a Value),
}

impl<'a> Source<'a> {
    fn get(self, field: &str) -> Option<&'a Value> {
        match self {
            Source::Fields(fields) => fields.get(field),
            Source::Key(key) => (field == "object_key").then_some(key),
        }
    }

    /// The values of `single` fields and then of `plural` ones in text form, without null and blank ones.
    pub(crate) fn texts<'f>(
        self,
        single: &'f [&str],
        plural: &'f [&str],
    ) -> impl Iterator<Item = Cow<'a, str>> + use<'a, 'f> {
        let alone = single.iter().filter_map(move |field| self.get(field));
        let listed = plural.iter().filter_map(move |field| self.get(field)).flat_map(|value| match value {
            Value::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        });
        alone.chain(listed).filter_map(text_of)
    }
}

/// All sources of a hit.
pub(crate) fn sources(hit: &Hit) -> impl Iterator<Item = Source<'_>> + Clone {
    let origin = match hit.source.get("origin") {
        Some(Value::Object(origin)) => Some(Source::Fields(origin)),
        _ => None,
    };
    let key = hit.metadata.get("origin_source_key").filter(|key| !key.is_null()).map(Source::Key);
    [Some(Source::Fields(&hit.source)), origin, key].into_iter().flatten()
}

/// The values of `single` and `plural` fields over all sources of a hit.
pub(crate) fn texts<'a>(hit: &'a Hit, single: &[&str], plural: &[&str]) -> Vec<Cow<'a, str>> {
    sources(hit).flat_map(|source| source.texts(single, plural)).collect()
}

/// The benchmark's document ids that a hit carries: explicit benchmark ids, then `document_id`, then the ids in its keys.
pub(crate) fn document_ids(hit: &Hit) -> impl Iterator<Item = Cow<'_, str>> {
    let sources = sources(hit);
    let named = sources.clone().flat_map(|source| source.texts(&BENCHMARK_ID, &BENCHMARK_IDS));
    let by_metadata = Source::Fields(&hit.metadata).texts(&BENCHMARK_ID, &BENCHMARK_IDS);
    let own = sources.clone().flat_map(|source| source.texts(&DOCUMENT_ID, &DOCUMENT_IDS));
    let keys = sources.flat_map(|source| source.texts(&KEY, &KEYS));
    let in_keys = keys.filter_map(|key| raw_key_document(&key).map(|id| Cow::Owned(id.to_string())));
    named.chain(by_metadata).chain(own).chain(in_keys)
}

/// The text form of an id (spec/heta 5.1); `None` for null and for blank texts.
pub(crate) fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) if text.chars().all(is_whitespace) => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(python_text(other))),
    }
}

/// The document id in a key `raw/benchmarks/{benchmark}/{split}/{document id}/...`; empty segments are skipped.
pub(crate) fn raw_key_document(key: &str) -> Option<&str> {
    let mut segments = key.split('/').filter(|segment| !segment.is_empty());
    if segments.next() != Some("raw") || segments.next() != Some("benchmarks") {
        return None;
    }
    segments.nth(2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hit(source: Value, metadata: Value) -> Hit {
        serde_json::from_value(json!({"id": "c", "text": "t", "source": source, "metadata": metadata})).expect("a hit")
    }

    #[test]
    fn ids_come_from_every_source_in_order() {
        let hit = hit(
            json!({
                "document_id": "d1",
                "document_ids": [null, " ", 7],
                "object_key": "raw/benchmarks/sea/test/k1/k1.txt",
                "origin": {"source_keys": "raw//benchmarks/sea/test/k2"},
            }),
            json!({"origin_source_key": "raw/benchmarks/sea/test/k3/x", "benchmark_document_id": "b1"}),
        );
        assert_eq!(document_ids(&hit).collect::<Vec<_>>(), ["b1", "d1", "7", "k1", "k2", "k3"]);
    }

    #[test]
    fn keys_of_another_layout_hold_no_document() {
        assert_eq!(raw_key_document("raw/benchmarks/toy/beir/A/A.txt"), Some("A"));
        assert_eq!(raw_key_document("raw/benchmarks/toy/test"), None);
        assert_eq!(raw_key_document("parsed/A.json"), None);
        assert_eq!(raw_key_document(""), None);
    }
}
