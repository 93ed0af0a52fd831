//! What Heta Evaluation takes for judgements and for a ranking (spec/heta 5.2). To compare with its reports; our own rules
//! are in `qrels.rs` and `ranking.rs`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::qrels::Qrels;
use super::source::{BENCHMARK_ID, BENCHMARK_IDS, KEY, KEYS, Source, sources};
use crate::artifact::{Gold, Hit};
use crate::python;

/// Evidence with a reference id and a relevance above 0; of repeated ids the highest.
pub(crate) fn qrels(gold: &Gold) -> Qrels {
    let mut grades: BTreeMap<&str, i64> = BTreeMap::new();
    for evidence in &gold.evidence {
        let Some(reference) = &evidence.reference_id else { continue };
        let relevance = evidence.metadata.get("relevance").map_or(1, relevance);
        if relevance > 0 {
            let known = grades.entry(reference).or_insert(relevance);
            *known = relevance.max(*known);
        }
    }
    grades.into_iter().collect()
}

/// Whole numbers and truth values as they are, others cut toward zero, texts as Python's `int` reads them; else 1.
fn relevance(value: &Value) -> i64 {
    match value {
        Value::Bool(flag) => i64::from(*flag),
        // A cast of a double saturates.
        Value::Number(number) => number.as_i64().unwrap_or_else(|| number.as_f64().unwrap_or(1.0) as i64),
        Value::String(text) => python::int(text).unwrap_or(1),
        _ => 1,
    }
}

/// Documents in the order of the results, as many as count. A result without a document id takes no rank, one with several
/// ids takes several.
pub(crate) fn ranking(hits: &[Hit], cutoff: Option<u32>) -> Vec<Cow<'_, str>> {
    let k = cutoff.map_or(usize::MAX, |k| k as usize);
    let mut ranking: Vec<Cow<'_, str>> = Vec::new();
    let ids = hits.iter().flat_map(|hit| {
        let metadata = Source::Fields(&hit.metadata);
        sources(hit).chain([metadata]).flat_map(document_ids)
    });
    for id in ids {
        if ranking.len() == k {
            break;
        }
        if !ranking.contains(&id) {
            ranking.push(id);
        }
    }
    ranking
}

/// Explicit ids, those in lists, those in keys, those in lists of keys.
fn document_ids(source: Source<'_>) -> Vec<Cow<'_, str>> {
    let stripped = |id: Cow<'_, str>| Cow::Owned(python::strip(&id).to_string());
    let mut ids: Vec<Cow<'_, str>> = source.texts(&BENCHMARK_ID, &BENCHMARK_IDS).map(stripped).collect();
    ids.extend(source.texts(&KEY, &KEYS).filter_map(|key| key_document(&key)).map(Cow::Owned));
    ids
}

/// The segment two places after the first one called `beir`, else the fifth of a raw key.
fn key_document(key: &str) -> Option<String> {
    let segments: Vec<&str> = key.split('/').filter(|segment| !segment.is_empty()).collect();
    let after_beir = segments.iter().position(|segment| *segment == "beir").and_then(|at| segments.get(at + 2));
    let fifth = || segments.starts_with(&["raw", "benchmarks"]).then(|| segments.get(4)).flatten();
    after_beir.or_else(fifth).map(|id| id.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn relevance_falls_back_to_one() {
        let cases = [
            (json!(true), 1),
            (json!(false), 0),
            (json!(3), 3),
            (json!(2.9), 2),
            (json!(-0.5), 0),
            (json!(" +1_0 "), 10),
            (json!("2.0"), 1),
            (json!("1e1"), 1),
            (json!("1__0"), 1),
            (json!("-3"), -3),
            (json!(" ３ "), 3),
            (json!(null), 1),
            (json!([2]), 1),
            (json!(1e300), i64::MAX),
        ];
        for (value, expected) in cases {
            assert_eq!(relevance(&value), expected, "{value}");
        }
    }

    #[test]
    fn one_result_may_take_several_ranks_or_none() {
        let hits: Vec<Hit> = serde_json::from_value(json!([
            {"id": "c1", "text": "t", "source": {"document_id": "A"}},
            {"id": "c2", "text": "t", "source": {
                "object_keys": ["raw/benchmarks/toy/test/K/k.txt"], "beir_document_ids": [" P "], "beir_document_id": 4,
                "origin": {"object_key": "data/beir/x/O/o.txt"},
            }},
            {"id": "c3", "text": "t", "metadata": {"benchmark_document_id": "M", "source_key": "parsed/x.json"}},
        ]))
        .expect("hits");
        assert_eq!(ranking(&hits, Some(10)), ["4", "P", "K", "O", "M"]);
        assert_eq!(ranking(&hits, Some(2)), ["4", "P"]);
    }

    #[test]
    fn a_split_called_beir_misleads() {
        assert_eq!(key_document("raw/benchmarks/toy/beir/A/A.txt").as_deref(), Some("A.txt"));
        assert_eq!(key_document("raw/benchmarks/toy/test/beir/b.txt").as_deref(), Some("beir"));
    }
}
