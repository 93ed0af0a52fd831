//! "Every way to search runs offline": each query mode, over the documentation, without a model.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::space::Space;

/// Every mode with no model behind it, by the name of its query; and the least share of the evidence whose document its first five
/// results hold, somewhat below what was measured.
const FLOORS: [(&str, f64); 14] = [
    ("full_text_search", 0.65),
    ("vector_search", 0.45),
    ("hybrid_search", 0.5),
    ("graph_search", 0.55),
    ("heta_graph_search", 0.55),
    ("graph_by_vectors", 0.5),
    ("graph_by_walk", 0.6),
    ("rerank_search", 0.7),
    ("heta_rerank_search", 0.65),
    ("rewrite_search", 0.6),
    ("heta_rewrite_search", 0.65),
    ("multihop_search", 0.5),
    ("heta_multihop_search", 0.6),
    ("everything", 0.55),
];

/// The benchmark's own names, as its results have them.
const KEYS: &str = "raw/benchmarks/handbook/test/";

fn evaluation() -> String {
    format!(
        r#"name: kinds
benchmark:
  adapter: jsonl
  name: handbook
  documents: {0}/fixtures/handbook/documents.jsonl
  cases: {0}/fixtures/handbook/cases.jsonl
  root: {0}
  sample: 60
recipe:
  name: kb
  chunk: {{splitter: sentence, size: 120}}
  embed: {{provider: hashing, dimensions: 512}}
  graph: {{}}
queries:
  - {{mode: full_text_search, top_k: 5, trace: true}}
  - {{mode: vector_search, top_k: 5, trace: true}}
  - {{mode: hybrid_search, top_k: 5, trace: true}}
  - {{mode: graph_search, top_k: 5, trace: true}}
  - {{mode: heta_graph_search, top_k: 5, trace: true}}
  - {{mode: graph_search, name: graph_by_vectors, top_k: 5, trace: true, options: {{match: vector}}}}
  - {{mode: graph_search, name: graph_by_walk, top_k: 5, options: {{ranking: pagerank}}}}
  - {{mode: rerank_search, top_k: 5, trace: true}}
  - {{mode: heta_rerank_search, top_k: 5, trace: true}}
  - {{mode: rewrite_search, top_k: 5, trace: true, options: {{rewriter: lexical}}}}
  - {{mode: heta_rewrite_search, top_k: 5, trace: true, options: {{rewriter: lexical}}}}
  - {{mode: multihop_search, top_k: 5, trace: true, options: {{planner: lexical, rounds: 2}}}}
  - {{mode: heta_multihop_search, top_k: 5, trace: true, options: {{planner: lexical, rounds: 2}}}}
  - mode: hybrid_search
    name: everything
    top_k: 5
    options:
      modes:
        - {{mode: graph_search, options: {{match: vector}}, weight: 0.5}}
        - {{mode: rewrite_search, options: {{rewriter: lexical, base_mode: full_text_search}}}}
        - vector_search
answer: none
evaluators: [evidence_recall(match=reference)@5]
statistics: {{resamples: 10}}
"#,
        Path::new(env!("CARGO_MANIFEST_DIR")).display()
    )
}

/// The mean of each query.
fn means(outcome: &Value) -> BTreeMap<String, f64> {
    let headlines = outcome["evaluations"][0]["headlines"].as_array().expect("headlines");
    let mean = |line: &Value| {
        assert_eq!(line["failed"], 0, "{line}");
        (line["query"].as_str().expect("a query").to_string(), line["mean"].as_f64().expect("a mean"))
    };
    headlines.iter().map(mean).collect()
}

#[test]
fn every_mode_finds_evidence_runs_once_and_alike_on_any_number_of_threads() {
    let space = Space::new();
    space.write("evaluation.yaml", &evaluation());
    let first = space.run("--format json --jobs 1").expect(0);
    assert_eq!(first.executed()["retrieve"], FLOORS.len() - 1, "graph_search has two names, and one action");
    let means = means(&first.json());
    for (query, floor) in FLOORS {
        assert!(means[query] >= floor, "{query} {} of {floor}: {means:#?}", means[query]);
    }
    assert_eq!(means["graph_search"], means["heta_graph_search"]);
    space.run("").expect(0).expect_nothing();
    space.run("--store other --output other-reports --jobs 2").expect(0);
    assert_eq!(space.values(".ragstage", "kinds"), space.values("other", "kinds"));
    results(&space);
}

/// What every result of every mode carries.
fn results(space: &Space) {
    let report = space.json("reports/kinds/report.json");
    let cases = report["case_results"].as_array().expect("case results");
    let documents: BTreeMap<String, String> = std::fs::read_to_string(handbook("documents.jsonl"))
        .expect("documents")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|row| (text(&row["document_id"]), text(&row["name"])))
        .collect();
    for (query, _) in FLOORS {
        let of_query: Vec<&Value> = cases.iter().filter(|case| case["query_mode"] == query).collect();
        assert!(!of_query.is_empty(), "{query}");
        let hits = of_query.iter().flat_map(|case| case["response"]["results"].as_array().into_iter().flatten());
        let hits: Vec<&Value> = hits.collect();
        assert!(hits.len() >= 2 * of_query.len(), "{query} has {} hits", hits.len());
        for hit in hits {
            let source = &hit["source"];
            let document = text(&source["document_id"]);
            let name = documents.get(&document).unwrap_or_else(|| panic!("{query}: no document {document}: {hit}"));
            assert_eq!(text(&source["source_key"]), format!("{KEYS}{document}/{name}"), "{query}");
            assert_eq!(hit["kind"], "chunk", "{query}");
            assert!(!text(&hit["id"]).is_empty() && !text(&hit["text"]).is_empty(), "{query}: {hit}");
            assert!(hit["score"].as_f64().is_some_and(f64::is_finite), "{query}: {hit}");
            assert!(source["page_index"].is_u64(), "{query}: {hit}");
            let [start, end] = ["start", "end"].map(|end| source[end].as_u64());
            assert!(start.is_some() && start < end, "{query}: {hit}");
        }
        for case in &of_query {
            let trace = case["response"]["trace"].as_array().expect("a trace");
            let asked_for = !["graph_by_walk", "everything"].contains(&query);
            assert_eq!(!trace.is_empty(), asked_for, "{query}");
            assert!(trace.iter().all(|event| event["mode"].is_string()), "{query}");
        }
    }
}

fn handbook(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/handbook").join(name)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}
