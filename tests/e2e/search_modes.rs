//! Modes that ask other modes, offline, over the documentation.

use std::path::Path;

use serde_json::Value;

use crate::space::Space;

/// All that runs without a model and without vectors.
fn evaluation() -> String {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    format!(
        r#"name: modes
benchmark:
  adapter: jsonl
  documents: {0}/fixtures/handbook/documents.jsonl
  cases: {0}/fixtures/handbook/cases.jsonl
  root: {0}
recipe: {{chunk: {{splitter: sentence, size: 120}}}}
queries:
  - {{mode: full_text_search, top_k: 5}}
  - {{mode: rerank_search, top_k: 5, options: {{base_mode: full_text_search}}}}
  - {{mode: rewrite_search, top_k: 5, options: {{base_mode: full_text_search, rewriter: lexical}}}}
  - mode: multihop_search
    top_k: 5
    trace: true
    options: {{planner: lexical, rounds: 2, base_mode: {{mode: rerank_search, options: {{base_mode: full_text_search}}}}}}
answer: none
evaluators: [evidence_recall@5]
statistics: {{resamples: 100}}
"#,
        project.display()
    )
}

const MODES: [&str; 4] = ["full_text_search", "rerank_search", "rewrite_search", "multihop_search"];

#[test]
fn composed_modes_find_evidence_and_run_once() {
    let space = Space::new();
    space.write("evaluation.yaml", &evaluation());
    let first = space.run("evaluation.yaml --format json --jobs 1").expect(0);
    assert_eq!(first.executed()["retrieve"], 4);
    let outcome = first.json();
    let headlines = outcome["evaluations"][0]["headlines"].as_array().expect("headlines");
    let mean = |mode: &str| {
        let line = headlines.iter().find(|line| line["query"] == mode).expect("a headline");
        assert_eq!(line["failed"], 0, "{line}");
        line["mean"].as_f64().expect("a mean")
    };
    for mode in MODES {
        assert!(mean(mode) > 0.5, "{mode}: {}", mean(mode));
    }
    space.run("evaluation.yaml").expect(0).expect_nothing();
    // The law: with more threads, in another store, the same values.
    space.run("evaluation.yaml --store other --jobs 2").expect(0);
    assert_eq!(space.values(".ragstage", "modes"), space.values("other", "modes"));
}

#[test]
fn results_say_how_they_were_found() {
    let space = Space::new();
    space.write("evaluation.yaml", &evaluation());
    space.run("evaluation.yaml").expect(0);
    let report = space.json("reports/modes/report.json");
    let results = report["case_results"].as_array().expect("case results");
    let responses = |mode: &str| -> Vec<&Value> {
        results.iter().filter(|result| result["query_mode"] == mode).map(|result| &result["response"]).collect()
    };
    for mode in &MODES[1..] {
        assert!(!responses(mode).is_empty(), "{mode}");
    }
    for response in responses("rerank_search") {
        let metadata = &response["metadata"];
        assert_eq!((&metadata["base_mode"], &metadata["reranker"]), (&"full_text_search".into(), &"lexical".into()));
        assert_eq!(metadata.get("trace"), None);
        for hit in response["results"].as_array().expect("results") {
            assert!(hit["metadata"]["pre_rerank_rank"].as_u64().is_some_and(|rank| rank >= 1), "{hit}");
        }
    }
    for response in responses("rewrite_search") {
        assert_eq!(response["metadata"]["rewriter"], "lexical");
        assert!(
            response["metadata"]["variations"].as_array().is_some_and(|wordings| wordings.len() <= 3),
            "{response}"
        );
    }
    for response in responses("multihop_search") {
        let metadata = &response["metadata"];
        assert_eq!(metadata["planner"], "lexical");
        let rounds = metadata["rounds"].as_u64().expect("rounds") as usize;
        assert!((1..=2).contains(&rounds), "{metadata}");
        assert_eq!(metadata["round_reports"].as_array().map(Vec::len), Some(rounds));
        // In each round the base mode's base, the base mode, then the mode itself.
        let modes: Vec<&Value> =
            metadata["trace"].as_array().expect("a trace").iter().map(|event| &event["mode"]).collect();
        let round = ["full_text_search", "rerank_search", "multihop_search"];
        assert_eq!(modes, std::iter::repeat_n(round, rounds).flatten().collect::<Vec<_>>());
    }
}

#[test]
fn an_option_asks_again_for_its_own_query() {
    let space = Space::new();
    space.write("evaluation.yaml", &evaluation());
    space.run("evaluation.yaml").expect(0);
    space.edit("evaluation.yaml", "rounds: 2", "rounds: 3");
    let ran = space.run("evaluation.yaml").expect(0);
    let retrieved: Vec<String> =
        ran.executed_labels().into_iter().filter(|label| label.starts_with("retrieve ")).collect();
    assert_eq!(retrieved.len(), 1, "{retrieved:?}");
    assert!(retrieved[0].ends_with(" multihop_search"), "{retrieved:?}");
    for step in ["materialize", "chunk", "full_text_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
}

#[test]
fn what_a_mode_lacks_is_said_before_anything_runs() {
    let space = Space::new();
    space.write("evaluation.yaml", &evaluation());
    space.edit("evaluation.yaml", "rewriter: lexical", "variants: 2");
    let ran = space.run("evaluation.yaml").expect(3);
    let expected = "queries[2].options: missing `llm`, the chat model that is asked";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    space.write("evaluation.yaml", &evaluation());
    space.edit(
        "evaluation.yaml",
        "{mode: rerank_search, top_k: 5, options: {base_mode: full_text_search}}",
        "{mode: rerank_search}",
    );
    let ran = space.run("evaluation.yaml").expect(3);
    let expected = "the recipe `default` has no `embed`, which `rerank_search` reads";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}
