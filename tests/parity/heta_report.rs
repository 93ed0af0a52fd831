//! A recorded report: every field that it has, ours has too, in the same order.

use serde_json::Value;

use crate::golden::golden;
use crate::made_up::{Evaluation, fault};
use ragstage_stages::artifact::{Json, Score, ScoreValue};
use ragstage_stages::error::RowErrorKind;

/// Our report of a made-up evaluation with one failed response.
fn ours() -> Vec<u8> {
    let mut evaluation = Evaluation::new(&[("q1", "Who kept the lighthouse?", None), ("q2", "When?", None)], &[]);
    evaluation.plan("base", "vector_search", &["evidence_recall@3"]);
    evaluation.respond("base", "vector_search", 0, "It was lit on 3 May 1871.", &[1]);
    let scores = vec![
        Score::scored(ScoreValue::Number(1.0), None, Json::new()),
        Score::failed(fault(RowErrorKind::Upstream, "no response")),
    ];
    evaluation.score("base", "vector_search", "evidence_recall@3", 0, scores);
    evaluation.report().output("report.json").bytes.clone()
}

/// Fails where an object of `theirs` has a key that ours lacks; free-form objects are the producer's own.
fn covers(path: &str, theirs: &Value, ours: &Value) {
    const FREE: [&str; 5] = ["metadata", "source", "knowledge_base_manifest", "recipe_manifest", "score_summary"];
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (key, value) in theirs {
                let below = format!("{path}.{key}");
                let own = ours.get(key).unwrap_or_else(|| panic!("our report lacks {below}"));
                if !FREE.contains(&key.as_str()) {
                    covers(&below, value, own);
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            if let Some(own) = ours.first() {
                theirs.iter().for_each(|item| covers(&format!("{path}[]"), item, own));
            }
        }
        _ => {}
    }
}

/// The top-level keys of a JSON object in the order of its text.
fn keys(text: &str, names: &[&str]) -> Vec<usize> {
    names.iter().map(|name| text.find(&format!("\"{name}\"")).unwrap_or_else(|| panic!("no {name}"))).collect()
}

#[test]
fn every_field_of_the_recorded_report_is_in_ours() {
    let Some(path) = golden("heta_report_example.json") else { return };
    let theirs: Value = serde_json::from_slice(&std::fs::read(path).expect("golden")).expect("golden json");
    let text = ours();
    let ours: Value = serde_json::from_slice(&text).expect("our json");
    covers("", &theirs, &ours);
    let error = theirs["case_results"].as_array().and_then(|cases| cases.iter().find(|case| !case["error"].is_null()));
    covers(".case_results[].error", &error.expect("a failed case")["error"], &ours["case_results"][1]["error"]);
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
        "started_at",
        "finished_at",
        "benchmark_document_keys",
        "ragstage",
    ];
    assert!(keys(&text, &names).is_sorted());
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
