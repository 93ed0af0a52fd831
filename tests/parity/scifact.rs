//! SciFact as it is distributed, in BEIR's layout.

use std::path::Path;
use std::process::Command;

use ragstage_stages::prepare::{AdapterSpec, BeirSpec, BenchmarkSpec, Selection};
use serde_json::Value;

use crate::golden::{data, say};
use crate::prepared::prepare;

#[test]
fn scifact_is_read_whole() {
    let Some(path) = data("beir/scifact") else { return };
    let spec = BeirSpec { path, dataset: "scifact".to_string(), split: "test".to_string(), dataset_url: None };
    let spec = BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() };
    let scifact = prepare(&spec, &|_, bytes| bytes).expect("SciFact is well formed");

    assert_eq!(scifact.units.benchmark.task_type, "scientific_fact_retrieval");
    assert_eq!(scifact.documents.rows.len(), 5_183);
    assert_eq!(scifact.queries.rows.len(), 300);
    let judgements = |key: &str| -> usize {
        let counts = scifact.golds.rows.iter().map(|gold| gold.metadata[key].as_object().map_or(0, |map| map.len()));
        counts.sum()
    };
    assert_eq!(judgements("judgements"), 339);
    assert_eq!(scifact.golds.rows.iter().map(|gold| gold.evidence.len()).sum::<usize>(), 339);
    assert!(scifact.documents.rows.iter().all(|document| document.size > Some(0)));
    let unit = &scifact.units.units[0];
    assert_eq!((unit.documents, unit.cases), (5_183, 300));
}

/// Whole documents (the longest has some 1,600 words), ranked as Anserini does by default.
const EVALUATION: &str = r#"
recipe:
  name: anserini
  chunk: {splitter: sentence, tokenizer: words, size: 1000000}
  full_text: {language: english, k1: 0.9, b: 0.4}
queries:
  - {mode: full_text_search, name: bm25, top_k: 100}
answer: none
evaluators: ["nDCG@10", "R@100"]
"#;

/// Runs the evaluation in `folder` and gives the events.
fn run(folder: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_ragstage"))
        .current_dir(folder)
        .env_remove("RAGSTAGE_STORE")
        .args(["run", "--quiet", "--events", "events.jsonl", "evaluation.yaml"])
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let events = std::fs::read_to_string(folder.join("events.jsonl")).expect("events");
    events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

fn count(events: &[Value], event: &str, step: &str) -> usize {
    events.iter().filter(|value| value["event"] == event && value["step"] == step).count()
}

fn mean(report: &Value, evaluator: &str) -> f64 {
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures");
    let found = measures.iter().find(|measure| measure["evaluator"] == evaluator).expect("the measure");
    found["mean"].as_f64().expect("a mean")
}

#[test]
fn scifact_runs_whole_and_a_warm_run_executes_nothing() {
    let Some(path) = data("beir/scifact") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = path.canonicalize().expect("a folder that is there");
    let benchmark =
        format!("name: scifact\nbenchmark: {{adapter: beir, path: {path:?}, dataset: scifact, split: test}}");
    std::fs::write(folder.path().join("evaluation.yaml"), benchmark + EVALUATION).expect("an evaluation file");

    let events = run(folder.path());
    assert_eq!(count(&events, "row_done", "materialize"), 5_183);
    assert_eq!(count(&events, "row_done", "retrieve"), 300);
    let report = std::fs::read(folder.path().join("reports/scifact/report.json")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let ndcg = mean(&report, "nDCG@10");
    // Published runs of Lucene's BM25 with k1 0.9 and b 0.4: 0.665 (title and text in two fields) to 0.679 (in one).
    assert!((0.665..=0.690).contains(&ndcg), "nDCG@10 is {ndcg}");
    let recall = mean(&report, "R@100");
    say(&format!("scifact: nDCG@10 {ndcg:.4}, R@100 {recall:.4}"));
    assert!(recall > 0.88, "R@100 is {recall}");

    let events = run(folder.path());
    let executed: Vec<&Value> =
        events.iter().filter(|value| value["event"] == "action_finished" || value["event"] == "row_done").collect();
    assert!(executed.is_empty(), "{executed:?}");
    let finished = events.iter().find(|value| value["event"] == "run_finished").expect("a last event");
    assert_eq!((&finished["executed"], &finished["rows_computed"]), (&0.into(), &0.into()));
}
