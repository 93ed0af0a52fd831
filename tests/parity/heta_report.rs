//! A recorded report: every field that it has, ours has too, in the same order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::golden::golden;
use crate::made_up::{Evaluation, fault};
use ragstage_stages::artifact::{Json, Score, ScoreValue};
use ragstage_stages::error::RowErrorKind;

/// Our report of a made-up evaluation with one failed response, kept in an object store.
fn ours() -> Vec<u8> {
    let mut evaluation = Evaluation::new(&[("q1", "Who kept the lighthouse?", None), ("q2", "When?", None)], &[]);
    evaluation.plan("base", "vector_search", &["evidence_recall@3"]);
    evaluation.respond("base", "vector_search", 0, "It was lit on 3 May 1871.", &[1]);
    let scores = vec![
        Score::scored(ScoreValue::Number(1.0), None, Json::new()),
        Score::failed(fault(RowErrorKind::Upstream, "no response")),
    ];
    evaluation.score("base", "vector_search", "evidence_recall@3", 0, scores);
    let mut report = evaluation.build_report();
    report.recipes[0].manifest = json!({"parse": {}, "chunk": {}, "embed": {}, "vector": {}, "full_text": {}});
    report.run.persist_report = true;
    evaluation.memory.run(&report).output("report.json").bytes.clone()
}

/// Objects whose keys are the data's own: theirs and ours need not have the same ones.
const FREE: [&str; 9] = [
    ".metadata",
    ".source",
    ".locator",
    ".artifacts",
    ".score_summary",
    "[].metadata",
    ".knowledge_base_manifest.metadata",
    ".recipe_manifest.metadata",
    ".knowledge_base_manifest.recipe.metadata",
];

/// What may be null, though nothing is in the recorded report (spec/heta 1).
const OPTIONAL: [&str; 3] = ["[].latency_ms", ".citations[].text", ".citations[].result_id"];

/// Where keys of ours may stand that theirs lacks.
const OWN: [&str; 1] = [".ragstage"];

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// The types of the values at each path; items of a list count as one.
fn shape(path: &str, value: &Value, shapes: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    shapes.entry(path.to_string()).or_default().insert(type_name(value));
    match value {
        Value::Array(items) => items.iter().for_each(|item| shape(&format!("{path}[]"), item, shapes)),
        Value::Object(fields) if !FREE.iter().any(|free| path.ends_with(free)) => {
            fields.iter().for_each(|(key, value)| shape(&format!("{path}.{key}"), value, shapes));
        }
        _ => {}
    }
}

fn shapes(value: &Value) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut shapes = BTreeMap::new();
    shape("", value, &mut shapes);
    shapes
}

/// The top-level keys of a JSON object in the order of its text.
fn keys(text: &str, names: &[&str]) -> Vec<usize> {
    names.iter().map(|name| text.find(&format!("\"{name}\"")).unwrap_or_else(|| panic!("no {name}"))).collect()
}

#[test]
fn every_field_of_the_recorded_report_is_in_ours_with_its_type_and_no_other() {
    let Some(path) = golden("heta_report_example.json") else { return };
    let theirs: Value = serde_json::from_slice(&std::fs::read(path).expect("golden")).expect("golden json");
    let ours: Value = serde_json::from_slice(&ours()).expect("our json");
    let (their_shapes, our_shapes) = (shapes(&theirs), shapes(&ours));
    for (path, types) in &their_shapes {
        // What a list that is empty in our small evaluation would hold.
        let below_empty = |path: &str| {
            let parents = path.match_indices("[]").map(|(end, _)| &path[..end]);
            parents.clone().any(|list| our_shapes.contains_key(list) && !our_shapes.contains_key(&format!("{list}[]")))
        };
        let Some(own) = our_shapes.get(path) else {
            assert!(below_empty(path), "our report lacks {path}");
            continue;
        };
        let may_lack = OPTIONAL.iter().any(|optional| path.ends_with(optional));
        let alien: Vec<_> = own.difference(types).filter(|name| !may_lack || **name != "null").collect();
        assert!(alien.is_empty(), "{path} is {own:?} in our report and {types:?} in theirs");
    }
    for path in our_shapes.keys() {
        let is_own = OWN.iter().any(|own| path.starts_with(own));
        // Of these the recorded report has none, so that nothing is known of what is in them.
        let unknown = their_shapes.keys().filter(|known| {
            path.starts_with(&format!("{known}[]")) && !their_shapes.contains_key(&format!("{known}[]"))
        });
        assert!(is_own || their_shapes.contains_key(path) || unknown.count() > 0, "only our report has {path}");
    }
    assert_eq!(
        ours["metadata"].as_object().map(|own| own.keys().cloned().collect::<Vec<_>>()).unwrap_or_default(),
        ["benchmark_document_keys", "run_units"]
    );
    for field in ["unit_id", "document_ids", "case_ids", "metadata"] {
        assert_eq!(
            type_name(&ours["metadata"]["run_units"][0][field]),
            type_name(&theirs["metadata"]["run_units"][0][field]),
            "{field}"
        );
    }
    for field in ["benchmark_run_unit", "knowledge_base_name"] {
        assert!(ours["case_results"][0]["metadata"][field].is_string(), "{field}");
    }
    // Nobody was asked twice: the one that failed has no response, and the other no error.
    let states = |of: &Value| (of["response"].is_null(), of["error"].is_null());
    assert_eq!((states(&ours["case_results"][0]), states(&ours["case_results"][1])), ((false, true), (true, false)));
}

#[test]
fn keys_come_in_the_recorded_order() {
    let text = String::from_utf8(ours()).expect("utf-8");
    let names = [
        "schema_version",
        "report_id",
        "report_key",
        "benchmark",
        "knowledge_base_name",
        "recipe_manifest",
        "query_modes",
        "score_summary",
        "case_results",
    ];
    assert!(keys(&text, &names).is_sorted());
    // Manifests of knowledge bases have such keys too.
    let (_, end) = text.rsplit_once("\"started_at\"").expect("when it began");
    assert!(keys(end, &["finished_at", "benchmark_document_keys", "run_units", "ragstage"]).is_sorted());
    let case = text.split("\"case_results\":[").nth(1).expect("cases");
    let names = [
        "case_id",
        "query",
        "query_mode",
        "scores",
        "response",
        "mode",
        "results",
        "answer",
        "citations",
        "trace",
        "latency_ms",
        "error",
        "benchmark_run_unit",
    ];
    assert!(keys(case, &names).is_sorted());
}
