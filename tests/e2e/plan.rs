//! What would run and why, before anything is spent: `plan`, `status`, `graph` and `explain`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT};
use super::space::{Ran, Space};

/// The actions of a plan as JSON, by label.
fn actions(ran: &Ran) -> BTreeMap<String, Value> {
    let plan = ran.json();
    assert_eq!(plan["format"], "ragstage.plan.v1");
    let actions = plan["actions"].as_array().expect("actions");
    actions.iter().map(|action| (action["label"].as_str().expect("a label").to_string(), action.clone())).collect()
}

/// What is in the store apart from what comes and goes with every process, and the memo of source files.
fn lasting(space: &Space) -> BTreeMap<String, Vec<u8>> {
    let passing = |name: &String| ["tmp", "locks", "memo"].iter().any(|part| name.starts_with(part));
    space.files(".ragstage").into_iter().filter(|(name, _)| !passing(name)).collect()
}

#[test]
fn before_the_first_run_it_knows_units_cases_and_rows() {
    let space = Space::new();
    small::write_units(&space);
    let ran = space.ragstage("plan --format json").expect(0);
    let actions = actions(&ran);
    assert_eq!(actions["prepare harbour"]["standing"], "stale");
    assert_eq!(actions["prepare harbour"]["reasons"][0]["reason"], "first_build");
    assert_eq!(
        actions["materialize harbour/east fine"]["rows"],
        serde_json::json!({"total": 2, "missing": 2, "calls": false})
    );
    assert_eq!(actions["retrieve harbour/east fine bm25"]["standing"], "cascade");
    assert_eq!(actions["retrieve harbour/east fine bm25"]["rows"]["missing"], 4);
    assert_eq!(actions["score harbour/south fine bm25 answer_contains"]["rows"]["missing"], 1);
    let totals = &ran.json()["totals"];
    assert_eq!((totals["fresh"].as_u64(), totals["calls"].as_u64()), (Some(0), Some(0)));
    assert_eq!(
        actions.len() as u64,
        totals["stale"].as_u64().expect("stale") + totals["cascade"].as_u64().expect("cascade")
    );
}

#[test]
fn it_writes_nothing() {
    let space = Space::new();
    small::write(&space);
    space.ragstage("cache size").expect(3);
    for command in ["plan", "status", "graph", "explain score"] {
        space.ragstage(command).expect(0);
    }
    assert!(!space.path(".ragstage").exists(), "looking makes no store");
    space.run("").expect(0);
    let before = lasting(&space);
    for command in ["plan --all", "plan --check", "status", "graph", "explain score", "report"] {
        space.ragstage(command).expect(0);
    }
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    for command in ["plan", "status", "graph --format json", "explain score pay"] {
        space.ragstage(command).expect(0);
    }
    space.ragstage("plan --check").expect(4);
    assert_eq!(lasting(&space), before);
}

#[test]
fn calls_to_a_system_are_counted_before_they_are_made() {
    let space = Space::new();
    small::write_system(&space);
    let plan = space.ragstage("plan").expect(0);
    assert!(plan.stdout.contains(&format!("at most {CASE_COUNT} of systems under test")), "{}", plan.stdout);
    space.run("").expect(0);
    let plan = space.ragstage("plan").expect(0);
    assert!(plan.stdout.contains("Calls to come: none; tokens: none; cost: none."), "{}", plan.stdout);

    let added = small::case("boats", "How many boats sank?", "eleven", ("storm", "sank eleven boats"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &added));
    let plan = space.ragstage("plan --format json").expect(0);
    assert_eq!(plan.json()["totals"]["calls"], 1);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), ["boats"]);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT + 1);
}

#[test]
fn calls_to_models_are_told_by_pool_before_anything_is_there() {
    let space = Space::new();
    small::write(&space);
    let embed = "    chunk: {size: 12}\n    embed: {provider: openai, model: m, base_url: \"http://127.0.0.1:1/v1\"}\n";
    space.edit("evaluation.yaml", "    chunk: {size: 12}\n", embed);
    space.edit("evaluation.yaml", "{mode: full_text_search, name: bm25, top_k: 3}", "{mode: vector_search, top_k: 3}");
    let plan = space.ragstage("plan").expect(0);
    // The chunks are embedded, then the queries, each in one request or more.
    let expected =
        "Calls to come: at least 2 of embedding endpoints; tokens and cost: not known before what they depend on";
    assert!(plan.stdout.contains(expected), "{}", plan.stdout);
    let json = space.ragstage("plan --format json").expect(0).json();
    let pools = serde_json::json!([{"pool": "embeddings", "calls": 2, "at_least": true, "spend": null}]);
    assert_eq!((&json["totals"]["pools"], &json["totals"]["calls"]), (&pools, &2.into()));
    assert_eq!((&json["tokens"], &json["cost_usd"]), (&Value::Null, &Value::Null));
}

#[test]
fn check_fails_while_something_would_run() {
    let space = Space::new();
    small::write(&space);
    space.ragstage("plan --check").expect(4);
    space.run("").expect(0);
    let plan = space.ragstage("plan --check").expect(0);
    assert!(plan.stdout.contains("Nothing to do: all 11 actions are up to date."), "{}", plan.stdout);
    space.ragstage("plan --check --evaluator nDCG@2").expect(4);
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 2");
    space.ragstage("plan --check").expect(4);
    space.ragstage("plan --check --until build").expect(0);
}

#[test]
fn reasons_have_old_and_new_values() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 2");
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let plan = space.ragstage("plan").expect(0);
    assert!(
        plan.stdout.contains("stale    retrieve harbour/corpus fine bm25 [10 of 10 rows]: top_k: 3 -> 2"),
        "{}",
        plan.stdout
    );
    let json = space.ragstage("plan --format json").expect(0);
    let actions = actions(&json);
    assert_eq!(
        actions["retrieve harbour/corpus fine bm25"]["reasons"],
        serde_json::json!([{"reason": "parameter", "path": "top_k", "old": "3", "new": "2"}])
    );
    let prepare = &actions["prepare harbour"]["reasons"][0];
    assert_eq!(prepare["reason"], "input", "{prepare}");
    assert!(prepare["old"] != prepare["new"] && prepare["old"].is_string());
    assert_eq!(actions["answer harbour/corpus fine bm25"]["reasons"][0]["reason"], "upstream");
    assert_eq!(actions["chunk harbour/corpus fine"]["standing"], "fresh");
}

#[test]
fn what_is_planned_is_what_runs() {
    let space = small::evaluated();
    space.edit("documents.jsonl", "It is closed on Mondays.", "It is closed on Sundays.");
    let planned = actions(&space.ragstage("plan --format json").expect(0));
    let ran = space.run("").expect(0);
    for label in ran.executed_labels() {
        assert_ne!(planned[&label]["standing"], "fresh", "{label} ran");
    }
    for (label, action) in &planned {
        if action["standing"] == "stale" {
            assert!(ran.executed_labels().contains(label), "{label} did not run");
        }
    }
}

#[test]
fn status_before_and_after() {
    let space = Space::new();
    small::write(&space);
    let status = space.ragstage("status").expect(0);
    assert!(status.stdout.contains("small: never run"), "{}", status.stdout);
    space.run("").expect(0);
    let status = space.ragstage("status").expect(0);
    assert!(status.stdout.contains(": 11 ran, 0 fresh, 0 items failed, 0 errors"), "{}", status.stdout);
    let json = space.ragstage("status --format json").expect(0).json();
    assert_eq!(json["format"], "ragstage.status.v1");
    for stage in json["stages"].as_array().expect("stages") {
        assert!(stage["fresh"].as_u64() > Some(0) && stage["stale"] == 0 && stage["cascade"] == 0, "{stage}");
    }
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    let json = space.ragstage("status --format json").expect(0).json();
    let of = |name: &str| {
        let stages = json["stages"].as_array().expect("stages");
        stages.iter().find(|stage| stage["stage"] == name).expect("the stage").clone()
    };
    assert_eq!((of("build")["stale"].as_u64(), of("build")["cascade"].as_u64()), (Some(1), Some(1)));
    assert_eq!(of("materialize")["fresh"], 1);
}

#[test]
fn the_graph_in_three_languages() {
    let space = small::evaluated();
    let dot = space.ragstage("graph").expect(0).stdout;
    assert!(dot.starts_with("digraph ragstage {") && dot.trim_end().ends_with('}'), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("[label=\"retrieve harbour/corpus fine bm25\\nfresh\", style=solid]"), "{dot}");

    let mermaid = space.ragstage("graph --format mermaid").expect(0).stdout;
    assert!(mermaid.starts_with("flowchart LR\n"), "{mermaid}");
    assert!(mermaid.contains("[\"chunk harbour/corpus fine<br/>fresh\"]"), "{mermaid}");

    space.edit("evaluation.yaml", "size: 12", "size: 40");
    let json = space.ragstage("graph --format json").expect(0).json();
    assert_eq!(json["format"], "ragstage.graph.v1");
    let nodes = json["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 11);
    let edges: usize = nodes.iter().map(|node| node["inputs"].as_array().expect("inputs").len()).sum();
    assert_eq!((dot.matches(" -> ").count(), mermaid.matches(" --> ").count()), (edges, edges));
    for node in nodes {
        for input in node["inputs"].as_array().expect("inputs") {
            assert!(input.as_u64() < node["id"].as_u64(), "inputs come first: {node}");
        }
    }
    let chunk = nodes.iter().find(|node| node["step"] == "chunk").expect("chunk");
    assert_eq!((chunk["state"].as_str(), chunk["stage"].as_str()), (Some("stale"), Some("build")));
}

/// The explanation of the one action that `arguments` choose.
fn explained(space: &Space, arguments: &str) -> Value {
    let json = space.ragstage(&format!("explain {arguments} --format json")).expect(0).json();
    assert_eq!(json["format"], "ragstage.explain.v1");
    let actions = json["actions"].as_array().expect("actions").clone();
    assert_eq!(actions.len(), 1, "{json:#}");
    actions[0].clone()
}

#[test]
fn explain_shows_the_preimage_of_a_key() {
    let space = small::evaluated();
    let chunk = explained(&space, "chunk");
    assert_eq!(chunk["standing"], "fresh");
    let preimage = chunk["preimage"].to_string();
    for field in ["[\"code_version\",\"1\"]", "[\"chunk.size\",\"12\"]", "[\"parsed\",\""] {
        assert!(preimage.contains(field), "no {field} in {preimage}");
    }
    let text = space.ragstage("explain chunk").expect(0).stdout;
    assert!(text.contains("chunk harbour/corpus fine is fresh (key "), "{text}");
    assert!(text.contains("no earlier run had another key for it"), "{text}");
}

#[test]
fn explain_finds_the_root_cause_of_a_cascade() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    for stage in ["full_text_index", "retrieve", "answer", "score answer_contains"] {
        let action = explained(&space, stage);
        assert_eq!(action["standing"], "cascade", "{stage}");
        assert_eq!(action["key"], Value::Null);
        assert_eq!(
            action["causes"],
            serde_json::json!([{
                "label": "chunk harbour/corpus fine",
                "reason": {"reason": "parameter", "path": "chunk.size", "old": "12", "new": "40"},
            }]),
            "{stage}"
        );
        // Its own key differs in what is not made yet, and that is no root cause.
        for change in action["changes"].as_array().expect("changes") {
            assert_eq!(
                (change["input"].as_bool(), change["new"].as_str()),
                (Some(true), Some("(not made yet)")),
                "{change}"
            );
        }
    }
    let text = space.ragstage("explain score answer_contains").expect(0).stdout;
    assert!(text.contains("is cascade\n  because after "), "{text}");
    assert!(text.contains("  root causes\n    chunk harbour/corpus fine: chunk.size: 12 -> 40\n"), "{text}");
    assert!(text.contains("answers = (not made yet)"), "{text}");
}

#[test]
fn explain_keeps_several_causes_apart() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 2");
    space.edit("evaluation.yaml", "sentences: 1", "sentences: 3");
    let causes = explained(&space, "score answer_contains")["causes"].clone();
    let mut found: Vec<String> = causes
        .as_array()
        .expect("causes")
        .iter()
        .map(|cause| {
            format!(
                "{} {}",
                cause["label"].as_str().expect("a label"),
                cause["reason"]["path"].as_str().expect("a path")
            )
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "answer harbour/corpus fine bm25 answer.sentences",
            "chunk harbour/corpus fine chunk.size",
            "retrieve harbour/corpus fine bm25 top_k",
        ]
    );
}

#[test]
fn explain_after_the_run_says_why_it_last_ran() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    space.run("").expect(0);
    let action = explained(&space, "retrieve");
    assert_eq!(action["standing"], "fresh");
    assert_eq!(action["causes"][0]["reason"]["path"], "chunk.size", "{action}");
    let inputs: Vec<&str> =
        action["changes"].as_array().expect("changes").iter().filter_map(|change| change["path"].as_str()).collect();
    assert_eq!(inputs, ["mode.index", "mode.chunks"]);
}

#[test]
fn explain_traces_gold_to_the_file() {
    let space = small::evaluated();
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let action = explained(&space, "score answer_contains");
    assert_eq!(action["standing"], "stale");
    let cause = action["causes"][0].clone();
    assert_eq!(cause["label"], "prepare harbour", "{action}");
    assert!(cause["reason"]["path"].as_str().is_some_and(|path| path.starts_with("files.")), "{cause}");
}

#[test]
fn explain_a_case_says_whether_its_row_is_there() {
    let space = small::evaluated();
    let row = |action: &Value| action["rows"][0]["place"]["cached"].as_bool();
    assert_eq!(row(&explained(&space, "retrieve pay")), Some(true));
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let scores = space.ragstage("explain score pay --format json").expect(0).json();
    let rows: Vec<_> = scores["actions"].as_array().expect("actions").iter().map(row).collect();
    assert_eq!(rows, [Some(false), Some(false)], "its gold is another");
    let others = space.ragstage("explain score built --format json").expect(0).json();
    assert!(others["actions"].as_array().expect("actions").iter().all(|action| row(action) == Some(true)));
    let text = space.ragstage("explain score pay").expect(0).stdout;
    assert!(text.contains("row pay (key ") && text.contains("not in the row cache: would be computed"), "{text}");

    // Downstream of what has to run first nobody knows yet.
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    let action = explained(&space, "retrieve pay");
    assert_eq!(action["rows"], serde_json::json!([{"item": "pay", "place": null}]));
    assert_eq!(explained(&space, "materialize museum")["rows"][0]["place"]["cached"], true);
    assert_eq!(explained(&space, "chunk museum")["rows"][0]["place"]["cached"], false);
}

#[test]
fn explain_an_item_that_is_not_there() {
    let space = small::evaluated();
    let ran = space.ragstage("explain score nobody").expect(3);
    assert!(ran.stderr.contains("is called \"nobody\""), "{}", ran.stderr);
    space.ragstage("explain nostage").expect(2);
}

#[test]
fn a_case_is_found_although_its_id_is_part_of_a_label() {
    let space = Space::new();
    small::write(&space);
    space.edit("cases.jsonl", "\"case_id\":\"pay\"", "\"case_id\":\"3\"");
    space.run("").expect(0);
    // `3` is in evidence_recall@3 too.
    let scores = space.ragstage("explain score 3 --format json").expect(0).json();
    let actions = scores["actions"].as_array().expect("actions");
    assert_eq!(actions.len(), 2);
    assert!(actions.iter().all(|action| action["rows"][0]["item"] == "3"), "{scores:#}");
}

#[test]
fn a_missing_benchmark_file_is_told_by_every_command() {
    let space = Space::new();
    small::write(&space);
    std::fs::remove_file(space.path("cases.jsonl")).expect("remove");
    for command in ["plan", "status", "graph", "explain score", "run"] {
        let ran = space.ragstage(command).expect(3);
        assert!(ran.stderr.contains("cases.jsonl"), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("does not exist"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn rows_of_a_plan_count_what_is_cached() {
    let space = small::evaluated();
    space.edit("documents.jsonl", "It is closed on Mondays.", "It is closed on Sundays.");
    let planned = actions(&space.ragstage("plan --format json").expect(0));
    assert_eq!(
        planned["materialize harbour/corpus fine"]["rows"],
        serde_json::json!({"total": DOCUMENT_COUNT, "missing": 1, "calls": false})
    );
}
