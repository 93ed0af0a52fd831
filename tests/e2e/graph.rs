//! Graphs: found offline, built by a model once per text, and built again only by what they depend on.

use serde_json::Value;

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT};
use super::space::{Ran, Space, steps};
use crate::model_server::{Act, ModelServer};

/// The small benchmark with a graph and a query in each of two modes, evaluated once.
fn evaluated() -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "chunk: {size: 12}\n", "chunk: {size: 12}\n    graph: {max_entities: 12}\n");
    space.edit(
        "evaluation.yaml",
        "name: bm25, top_k: 3}\n",
        "name: bm25, top_k: 3}\n  - {mode: graph_search, name: graph, top_k: 3}\n",
    );
    let cold = space.run("").expect(0);
    assert_eq!((cold.executed()["extract_graph"], cold.executed()["build_graph"]), (1, 1));
    assert_eq!(cold.row_counts()["retrieve"], 2 * CASE_COUNT);
    space.run("").expect(0).expect_nothing();
    space
}

/// Whether everything that ran for one query alone ran for `query`.
fn only_of(ran: &Ran, query: &str) {
    let of_queries = ["retrieve", "answer", "score"];
    for label in ran.executed_labels().iter().filter(|label| of_queries.iter().any(|step| label.starts_with(step))) {
        assert!(label.split(' ').any(|word| word == query), "{label}");
    }
}

/// The mean of a measure by query.
fn mean(outcome: &Value, recipe: &str, query: &str, measure: &str) -> f64 {
    let headlines = outcome["evaluations"][0]["headlines"].as_array().expect("headlines");
    let found = headlines
        .iter()
        .find(|line| line["recipe"] == recipe && line["query"] == query && line["evaluator"] == measure)
        .unwrap_or_else(|| panic!("{recipe} {query} {measure} in {headlines:?}"));
    found["mean"].as_f64().expect("a mean")
}

#[test]
fn the_documentation_is_searched_by_its_graph_without_a_model() {
    let space = Space::new();
    let project = env!("CARGO_MANIFEST_DIR");
    space.write(
        "evaluation.yaml",
        &format!(
            r#"name: handbook
benchmark:
  adapter: jsonl
  documents: {project}/fixtures/handbook/documents.jsonl
  cases: {project}/fixtures/handbook/cases.jsonl
  root: {project}
recipe: {{name: graph, chunk: {{splitter: sentence, size: 120}}, graph: {{}}}}
queries:
  - {{mode: graph_search}}
  - {{mode: heta_graph_search}}
  - {{mode: graph_search, name: walk, options: {{ranking: pagerank}}}}
answer: none
evaluators: [evidence_recall@5]
statistics: {{resamples: 10}}
"#
        ),
    );
    let outcome = space.run("--format json").expect(0).json();
    let recall = |query: &str| mean(&outcome, "graph", query, "evidence_recall@5");
    assert!(recall("graph_search") > 0.3 && recall("walk") > 0.3, "{} {}", recall("graph_search"), recall("walk"));
    assert_eq!(recall("graph_search"), recall("heta_graph_search"));
    space.run("").expect(0).expect_nothing();
}

#[test]
fn an_option_of_the_extractor_builds_the_graph_again_and_asks_graph_modes_alone() {
    let space = evaluated();
    space.edit("evaluation.yaml", "max_entities: 12", "max_entities: 2");
    let ran = space.run("").expect(0);
    for step in ["sources", "prepare", "materialize", "chunk", "full_text_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    for step in ["extract_graph", "build_graph", "retrieve"] {
        assert_eq!(ran.executed().get(step), Some(&1), "{step}");
    }
    assert_eq!(ran.items("retrieve"), small::case_ids());
    only_of(&ran, "graph");
}

#[test]
fn an_option_of_the_mode_asks_it_again_and_builds_nothing() {
    let space = evaluated();
    space.edit("evaluation.yaml", "name: graph, top_k: 3}", "name: graph, top_k: 3, options: {ranking: pagerank}}");
    let ran = space.run("").expect(0);
    for step in ["chunk", "extract_graph", "build_graph"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(ran.items("retrieve"), small::case_ids());
    only_of(&ran, "graph");
    // What belongs to the other mode is nothing to this one.
    space.edit(
        "evaluation.yaml",
        "graph: {max_entities: 12}\n",
        "graph: {max_entities: 12}\n    full_text: {k1: 1.5}\n",
    );
    only_of(&space.run("").expect(0), "bm25");
}

#[test]
fn one_document_is_extracted_alone() {
    let space = evaluated();
    space.edit("documents.jsonl", "It is closed on Mondays.", "It is closed on Sundays.");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("chunk"), ["museum"]);
    assert_eq!(ran.items("extract_graph").len(), 1, "{:?}", ran.items("extract_graph"));
    assert_eq!((ran.executed()["extract_graph"], ran.executed()["build_graph"]), (1, 1));
}

#[test]
fn what_a_graph_mode_needs_is_said_before_anything_runs() {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "mode: full_text_search", "mode: graph_search");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("the recipe `fine` has no `graph`, which `graph_search` reads"), "{}", ran.stderr);
    space.edit("evaluation.yaml", "chunk: {size: 12}\n", "chunk: {size: 12}\n    graph: {}\n");
    space.edit("evaluation.yaml", "top_k: 3}", "top_k: 3, options: {match: vector}}");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("the recipe `fine` has no `embed`, which `graph_search` reads"), "{}", ran.stderr);
}

#[test]
fn a_model_extracts_each_text_once_and_a_bad_reply_costs_its_chunk_alone() {
    const GOOD: &str = r#"{"entities": [{"name": "town", "type": "place", "description": ""}], "relations": []}"#;
    // A reply that does not fit is asked for two more times.
    const ASKED: usize = 3;
    let server = ModelServer::new(|request| {
        Act::Say(if request.prompt().contains("maritime museum") { "I will not." } else { GOOD }.to_string())
    });
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "chunk: {size: 12}\n", "chunk: {size: 100}\n    graph: {extractor: llm, llm: m}\n");
    space.edit("evaluation.yaml", "mode: full_text_search, name: bm25", "mode: graph_search, name: graph");
    let models = format!("models: [{{name: m, model: scripted, base_url: '{}'}}]\n", server.base_url());
    space.write("evaluation.yaml", &(models + &space.read("evaluation.yaml")));
    let ran = space.run("").expect(10);
    assert_eq!(server.total(), DOCUMENT_COUNT - 1 + ASKED);
    // The rest is there, and what was found in it.
    assert_eq!(ran.executed().get("retrieve"), Some(&1));
    assert!(space.read("reports/small/report.json").contains("\"entities\":[\"town\"]"));

    // The one that failed is asked again, and nothing else.
    space.run("").expect(10);
    assert_eq!(server.total(), DOCUMENT_COUNT - 1 + 2 * ASKED);

    // Another server of the same name now says what it should; then all is done, and kept.
    let willing = ModelServer::new(|_| Act::Say(GOOD.to_string()));
    space.edit("evaluation.yaml", &server.base_url(), &willing.base_url());
    space.run("").expect(0);
    assert_eq!(willing.total(), 1);
    let warm = space.run("").expect(0).expect_nothing();
    assert_eq!((willing.total(), server.total()), (1, DOCUMENT_COUNT - 1 + 2 * ASKED));
    assert_eq!(warm.executed(), steps(&[]));
}
