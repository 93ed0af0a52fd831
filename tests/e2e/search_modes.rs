//! Modes that ask other modes: offline, over the documentation, and with models, over a harbour.

use std::path::Path;

use serde_json::{Value, json};

use crate::model_server::{Act, ModelServer};
use crate::small;
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
evaluators: [evidence_recall(match=reference)@5]
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
            response["trace"].as_array().expect("a trace").iter().map(|event| &event["mode"]).collect();
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

/// The harbour, asked in one way with models at `server`.
fn with_models(space: &Space, server: &ModelServer, query: &str) {
    small::write(space);
    let url = server.base_url();
    let models = format!(
        "models: [{{name: chat, model: m, base_url: \"{url}\"}}]\nrerankers: [{{name: cross, model: r, base_url: \"{url}\"}}]\n"
    );
    space.edit("evaluation.yaml", "recipes:", &format!("{models}recipes:"));
    space.edit("evaluation.yaml", "{mode: full_text_search, name: bm25, top_k: 3}", query);
}

/// The hits of every case of the report.
fn hits(space: &Space) -> Vec<Vec<Value>> {
    let report = space.json("reports/small/report.json");
    let cases = report["case_results"].as_array().expect("case results");
    cases.iter().map(|case| case["response"]["results"].as_array().expect("results").clone()).collect()
}

#[test]
fn a_cross_encoder_is_asked_once_per_case() {
    let space = Space::new();
    // Says that the last candidate is the best.
    let server = ModelServer::new(|request| {
        let count = request.body["documents"].as_array().map_or(0, Vec::len);
        let results: Vec<Value> =
            (0..count).map(|index| json!({"index": index, "relevance_score": index as f64})).collect();
        Act::Json(json!({"results": results}))
    });
    with_models(
        &space,
        &server,
        "{mode: rerank_search, top_k: 3, options: {base_mode: full_text_search, reranker: cross}}",
    );
    space.run("evaluation.yaml").expect(0);
    let asked = server.total();
    assert!((1..=small::CASE_COUNT).contains(&asked), "{asked}");
    for hits in hits(&space) {
        let ranks: Vec<u64> = hits.iter().filter_map(|hit| hit["metadata"]["pre_rerank_rank"].as_u64()).collect();
        assert_eq!(ranks.len(), hits.len());
        assert!(ranks.windows(2).all(|pair| pair[0] == pair[1] + 1), "{ranks:?}");
    }
    space.run("evaluation.yaml").expect(0).expect_nothing();
    // Other results are wanted of the same candidates, whose ranking is known.
    space.edit("evaluation.yaml", "top_k: 3, options", "top_k: 2, options");
    space.run("evaluation.yaml").expect(0);
    assert_eq!(server.total(), asked);
}

#[test]
fn another_prompt_asks_again_and_its_file_is_read() {
    let space = Space::new();
    let server = ModelServer::new(|_| Act::Say(r#"{"queries": ["the lamp of the lighthouse"]}"#.to_string()));
    let query = |more: &str| {
        format!(
            "{{mode: rewrite_search, top_k: 3, options: {{base_mode: full_text_search, llm: chat, variants: 1{more}}}}}"
        )
    };
    with_models(&space, &server, &query(""));
    space.run("evaluation.yaml").expect(0);
    assert_eq!(server.total(), small::CASE_COUNT);
    space.run("evaluation.yaml").expect(0).expect_nothing();
    space.write("rewrite.md", "Other words for: {{ query }}\n");
    space.edit("evaluation.yaml", &query(""), &query(", prompt: rewrite.md"));
    space.run("evaluation.yaml").expect(0);
    assert_eq!(server.total(), 2 * small::CASE_COUNT);
    space.run("evaluation.yaml").expect(0).expect_nothing();
}

#[test]
fn an_unusable_reply_fails_its_case_unless_the_base_may_stand_in() {
    let space = Space::new();
    let server = ModelServer::new(|_| Act::Say("I would rather not.".to_string()));
    let query = |more: &str| {
        format!("{{mode: rewrite_search, top_k: 3, options: {{base_mode: full_text_search, llm: chat{more}}}}}")
    };
    with_models(&space, &server, &query(""));
    space.edit("evaluation.yaml", "statistics:", "limits: {llm: {breaker: 0}}\nstatistics:");
    let failed = space.run("evaluation.yaml --format json").expect(11).json();
    let headline = &failed["evaluations"][0]["headlines"][0];
    assert_eq!((headline["failed"].as_u64(), headline["mean"].is_null()), (Some(small::CASE_COUNT as u64), true));
    space.edit("evaluation.yaml", &query(""), &query(", on_failure: base"));
    space.run("evaluation.yaml").expect(0);
    let report = space.json("reports/small/report.json");
    let cases = report["case_results"].as_array().expect("case results");
    assert!(cases.iter().all(|case| !case["response"]["metadata"]["fallback"].is_null()), "{}", cases[0]);
}

#[test]
fn one_name_for_two_servers_is_refused() {
    let space = Space::new();
    small::write(&space);
    let embed = |port: u32| format!("embed: {{provider: openai, model: m, base_url: 'http://127.0.0.1:{port}/v1'}}");
    space.edit(
        "evaluation.yaml",
        "chunk: {size: 12}\n",
        &format!("{}\n  - name: second\n    {}\n", embed(1), embed(2)),
    );
    let ran = space.run("evaluation.yaml").expect(3);
    assert!(
        ran.stderr.contains(
            "the embedder \"m\" of endpoint \"default\" is at http://127.0.0.1:2/v1, and at another URL as well"
        ),
        "{}",
        ran.stderr
    );
    // A plan needs no key.
    space.edit("evaluation.yaml", &embed(2), "chunk: {size: 12}");
    space.edit(
        "evaluation.yaml",
        "base_url: 'http://127.0.0.1:1/v1'",
        "api_key_env: NOBODY_SET_THIS, base_url: 'http://127.0.0.1:1/v1'",
    );
    space.ragstage("plan evaluation.yaml").expect(0);
    assert!(
        space.run("evaluation.yaml").expect(3).stderr.contains("the environment variable `NOBODY_SET_THIS` is not set")
    );
}
