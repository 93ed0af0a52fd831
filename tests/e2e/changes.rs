//! What runs again after each kind of change, and what does not: the table of the design, one test per row. (Judges and
//! embedding models have rows of their own there; they are no part of this pipeline yet.)

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT, PIER};
use super::space::{Ran, Space, steps};

/// Every action of the small evaluation and all rows.
fn assert_cold(ran: &Ran) {
    assert_eq!(
        ran.executed(),
        steps(&[
            ("sources", 1),
            ("prepare", 1),
            ("materialize", 1),
            ("chunk", 1),
            ("full_text_index", 1),
            ("retrieve", 1),
            ("answer", 1),
            ("score", 2),
            ("aggregate", 1),
            ("report", 1),
        ])
    );
    assert_eq!(
        ran.row_counts(),
        steps(&[
            ("materialize", DOCUMENT_COUNT),
            ("chunk", DOCUMENT_COUNT),
            ("retrieve", CASE_COUNT),
            ("answer", CASE_COUNT),
            ("score", 2 * CASE_COUNT),
        ])
    );
}

#[test]
fn nothing_changed() {
    let space = Space::new();
    small::write(&space);
    assert_cold(&space.run("").expect(0));
    let warm = space.run("").expect(0).expect_nothing();
    assert!(
        warm.stdout.contains("Nothing to do: all 11 actions are up to date; no query was asked."),
        "{}",
        warm.stdout
    );
}

#[test]
fn files_are_touched() {
    let space = small::evaluated();
    for name in ["evaluation.yaml", "documents.jsonl", "cases.jsonl", "files/pier.txt"] {
        let file = std::fs::File::options().append(true).open(space.path(name)).expect("open");
        file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(100)).expect("touch");
    }
    space.run("").expect(0).expect_nothing();
}

#[test]
fn the_folder_is_renamed_or_copied() {
    let outer = Space::new();
    let inside = |file: &str| format!("before/{file}");
    let space = Space::new();
    small::write(&space);
    for file in ["evaluation.yaml", "documents.jsonl", "cases.jsonl", "files/pier.txt"] {
        outer.write(&inside(file), &space.read(file));
    }
    assert_cold(&outer.run("--store store before/evaluation.yaml").expect(0));

    std::fs::rename(outer.path("before"), outer.path("after")).expect("rename");
    outer.run("--store store after/evaluation.yaml").expect(0).expect_nothing();

    // New files with other times and inodes, elsewhere, through an absolute path.
    let copy = Space::new();
    small::write(&copy);
    let store = outer.path("store");
    let ran = copy.run(&format!("--store {} {}", store.display(), copy.path("evaluation.yaml").display())).expect(0);
    ran.expect_nothing();
    assert!(copy.path("reports/small/report.json").is_file());
}

#[test]
fn the_store_moves_along_with_its_folder() {
    let outer = Space::new();
    let space = Space::new();
    small::write(&space);
    for file in ["evaluation.yaml", "documents.jsonl", "cases.jsonl", "files/pier.txt"] {
        outer.write(&format!("before/{file}"), &space.read(file));
    }
    assert_cold(&outer.run("--store before/.ragstage before/evaluation.yaml").expect(0));
    std::fs::rename(outer.path("before"), outer.path("after")).expect("rename");
    outer.run("--store after/.ragstage after/evaluation.yaml").expect(0).expect_nothing();
}

#[test]
fn a_new_evaluator() {
    let space = small::evaluated();
    space.edit(
        "evaluation.yaml",
        "[evidence_recall@3, answer_contains]",
        "[evidence_recall@3, answer_contains, nDCG@3]",
    );
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.row_counts(), steps(&[("score", CASE_COUNT)]));
    assert!(ran.executed_labels().contains(&"score harbour/corpus fine bm25 nDCG@3".to_string()));
}

#[test]
fn an_evaluator_less_computes_no_score() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", "[answer_contains]");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.rows(), Vec::<String>::new());
}

#[test]
fn the_gold_answer_of_one_case() {
    let space = small::evaluated();
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("prepare", 1), ("score", 2), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.rows(), ["score pay", "score pay"]);
}

#[test]
fn one_case_more() {
    let space = small::evaluated();
    let added =
        small::case("boats", "How many boats did the storm sink?", "eleven", ("storm", "sank eleven boats"), "fact");
    // First in the file: a place is no part of what a case is.
    space.write("cases.jsonl", &(added + &space.read("cases.jsonl")));
    let ran = space.run("").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[("prepare", 1), ("retrieve", 1), ("answer", 1), ("score", 2), ("aggregate", 1), ("report", 1)])
    );
    assert_eq!(ran.rows(), ["answer boats", "retrieve boats", "score boats", "score boats"]);
}

#[test]
fn one_case_less() {
    let space = small::evaluated();
    let cases = space.read("cases.jsonl");
    space.write("cases.jsonl", cases.split_once('\n').expect("lines").1);
    let ran = space.run("").expect(0);
    assert_eq!(ran.rows(), Vec::<String>::new());
    assert!(!space.read("reports/small/report.json").contains("\"case_id\":\"built\""));
}

#[test]
fn top_k_asks_again_and_answers_only_where_the_context_changed() {
    let space = small::evaluated();
    // Answers read two results, and those stay the same.
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 5");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("retrieve", 1), ("answer", 1), ("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.items("retrieve"), small::case_ids());
    assert_eq!(ran.items("answer"), Vec::<String>::new());
    assert_eq!(
        ran.items("score"),
        ["parrot", "permit"],
        "what found more than three results, by the evaluator of results"
    );

    // One result is less than what answers read.
    space.edit("evaluation.yaml", "top_k: 5", "top_k: 1");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), small::case_ids());
    assert!(!ran.items("answer").is_empty());
    for step in ["prepare", "materialize", "chunk", "full_text_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
}

#[test]
fn ranking_options_ask_again_and_build_nothing() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "chunk: {size: 12}", "chunk: {size: 12}\n    full_text: {k1: 1.5, b: 0.9}");
    let ran = space.run("").expect(0);
    for step in ["sources", "prepare", "materialize", "chunk", "full_text_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(ran.items("retrieve"), small::case_ids());
}

#[test]
fn mode_options_of_a_system_ask_it_again() {
    let space = Space::new();
    small::write_system(&space);
    let cold = space.run("").expect(0);
    assert_eq!(cold.row_counts().get("retrieve"), Some(&CASE_COUNT));
    space.run("").expect(0).expect_nothing();
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);

    space.edit("evaluation.yaml", "top_k: 3}", "top_k: 3, options: {rerank: true}}");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed().get("retrieve"), Some(&1));
    assert_eq!(ran.items("retrieve"), small::case_ids());
    assert_eq!(space.read("asked.log").lines().count(), 2 * CASE_COUNT);
    assert_eq!(space.read("asked.log").matches("\"rerank\":true").count(), CASE_COUNT);
    // The system said the same as before.
    assert!(!ran.executed().contains_key("score"));
}

#[test]
fn a_file_of_a_system_asks_it_again() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    space.edit("system.sh", "In 1871.", "In 1872.");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), small::case_ids());
    // Results are the same, answers are not.
    assert_eq!(ran.executed().get("score"), Some(&2));
}

#[test]
fn answer_options() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "sentences: 1", "sentences: 2");
    let ran = space.run("").expect(0);
    // The evaluator of evidence reads no answers.
    assert_eq!(ran.executed(), steps(&[("answer", 1), ("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.items("answer"), small::case_ids());
}

#[test]
fn chunk_size_keeps_the_parsed_documents() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "size: 12", "size: 40");
    let ran = space.run("").expect(0);
    let executed = ran.executed();
    for step in ["sources", "prepare", "materialize"] {
        assert!(!executed.contains_key(step), "{step}");
    }
    for step in ["chunk", "full_text_index", "retrieve", "answer", "aggregate", "report"] {
        assert_eq!(executed.get(step), Some(&1), "{step}");
    }
    assert_eq!(ran.row_counts().get("chunk"), Some(&DOCUMENT_COUNT));
    assert_eq!(ran.items("retrieve"), small::case_ids());

    // And back: everything is there still.
    space.edit("evaluation.yaml", "size: 40", "size: 12");
    space.run("").expect(0).expect_nothing();
}

#[test]
fn the_text_of_one_document() {
    let space = Space::new();
    small::write_units(&space);
    space.run("").expect(0);
    space.edit("documents.jsonl", "It is closed on Mondays.", "It is closed on Sundays.");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("materialize"), ["museum"]);
    assert_eq!(ran.items("chunk"), ["museum"]);
    assert_eq!(ran.items("retrieve"), ["crossing", "entry", "groups"], "the cases of its unit");
    let of_units = ["materialize", "chunk", "full_text_index", "retrieve", "answer", "score"];
    for label in ran.executed_labels().iter().filter(|label| of_units.iter().any(|step| label.starts_with(step))) {
        assert!(label.contains(" harbour/west "), "{label} is of another unit");
    }
    for step in &of_units[..4] {
        assert_eq!(ran.executed().get(*step), Some(&1), "{step}");
    }
}

#[test]
fn limits_and_output_folder() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    let limits =
        "limits: {jobs: 1, queries: {concurrency: 2, timeout_s: 5, retries: 1, breaker: 3}, keep_going: false}\n";
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + limits + "output: elsewhere\n"));
    space.run("--jobs 2").expect(0).expect_nothing();
    assert!(space.path("elsewhere/report.html").is_file());
    space.run("--output third").expect(0).expect_nothing();
    assert!(space.path("third/scores.parquet").is_file());
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
}

#[test]
fn how_a_system_is_reached_is_no_part_of_it() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    space.edit(
        "evaluation.yaml",
        "command: [sh, system.sh]",
        "command: [sh, ./system.sh], environment: {REGION: north}",
    );
    space.run("").expect(0).expect_nothing();
}

#[test]
fn a_second_recipe_adds_only_what_it_does_not_share() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "queries:\n", "  - name: coarse\n    chunk: {size: 40}\nqueries:\n");
    let ran = space.run("").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[
            ("chunk", 1),
            ("full_text_index", 1),
            ("retrieve", 1),
            ("answer", 1),
            ("score", 2),
            ("aggregate", 1),
            ("report", 1),
        ])
    );
    assert_eq!(ran.row_counts().get("chunk"), Some(&DOCUMENT_COUNT));
    assert_eq!(ran.items("retrieve"), small::case_ids());
    let own = ran.executed_labels();
    assert!(own.iter().all(|label| !label.contains(" fine")), "{own:?}");
}

#[test]
fn equal_recipes_under_two_names_share_everything() {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "queries:\n", "  - name: twin\n    chunk: {size: 12}\nqueries:\n");
    assert_cold(&space.run("").expect(0));
    let report: serde_json::Value = serde_json::from_str(&space.read("reports/small/report.json")).expect("JSON");
    let results = report["case_results"].as_array().expect("case results");
    assert_eq!(results.len(), 2 * CASE_COUNT);
    assert_eq!(results.iter().filter(|result| result["metadata"]["recipe"] == "twin").count(), CASE_COUNT);
}

#[test]
fn a_renamed_recipe_builds_and_asks_nothing() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "name: fine", "name: other");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("aggregate", 1), ("report", 1)]));
}

#[test]
fn other_bytes_with_the_same_text_stop_after_materialize() {
    let space = small::evaluated();
    // The same text in another encoding.
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(PIER.encode_utf16().flat_map(u16::to_le_bytes));
    std::fs::write(space.path("files/pier.txt"), bytes).expect("write");
    let ran = space.run("").expect(0);
    assert_eq!(ran.rows(), ["materialize pier"]);
    // Units carry the digests of their documents, and the report names them.
    assert_eq!(ran.executed(), steps(&[("prepare", 1), ("materialize", 1), ("aggregate", 1), ("report", 1)]));
    let finished = ran.of("action_finished").into_iter().find(|event| event["step"] == "materialize").cloned();
    assert_eq!(finished.expect("materialize ran")["same_outputs"], true);
}

#[test]
fn reordered_documents_are_neither_parsed_nor_cut_again() {
    let space = small::evaluated();
    let documents = space.read("documents.jsonl");
    let reversed: String = documents.lines().rev().map(|line| format!("{line}\n")).collect();
    assert_ne!(documents, reversed);
    space.write("documents.jsonl", &reversed);
    let ran = space.run("").expect(0);
    // Ties are broken by document order, so the index is another one and is asked again.
    assert_eq!(ran.items("materialize"), Vec::<String>::new());
    assert_eq!(ran.items("chunk"), Vec::<String>::new());
    assert_eq!(ran.executed().get("full_text_index"), Some(&1));
}

#[test]
fn reordered_documents_ask_no_system() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    let reversed: String = space.read("documents.jsonl").lines().rev().map(|line| format!("{line}\n")).collect();
    space.write("documents.jsonl", &reversed);
    let ran = space.run("").expect(0);
    // A system is handed no order, so its replies are to the same documents.
    assert_eq!(ran.executed().get("retrieve"), None);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
}

#[test]
fn reordered_cases_ask_and_score_nothing() {
    let space = small::evaluated();
    let reversed: String = space.read("cases.jsonl").lines().rev().map(|line| format!("{line}\n")).collect();
    space.write("cases.jsonl", &reversed);
    let ran = space.run("").expect(0);
    assert_eq!(ran.rows(), Vec::<String>::new());
}

#[test]
fn blank_lines_and_key_order_in_the_benchmark_stop_after_prepare() {
    let space = small::evaluated();
    let documents = space.read("documents.jsonl");
    space.write("documents.jsonl", &documents.replace('\n', "\r\n\n"));
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("sources", 1), ("prepare", 1)]));
}

#[test]
fn another_label_asks_no_query() {
    let space = small::evaluated();
    space.edit("cases.jsonl", "\"labels\":{\"type\":\"howto\"}", "\"labels\":{\"type\":\"advice\",\"tag\":\"new\"}");
    let ran = space.run("").expect(0);
    for step in ["materialize", "chunk", "full_text_index", "retrieve", "answer"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert!(space.read("reports/small/report.md").contains("advice"));
}

#[test]
fn comments_and_layout_of_the_evaluation_file_are_nothing() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "recipes:\n", "\n# The one recipe.\nrecipes:\n");
    space.edit(
        "evaluation.yaml",
        "chunk: {size: 12}",
        "chunk:\n      size: 12\n      splitter: sentence  # the default",
    );
    space.run("").expect(0).expect_nothing();
}

#[test]
fn another_statistic_scores_nothing() {
    let space = small::evaluated();
    space.edit("evaluation.yaml", "resamples: 100", "resamples: 50");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("aggregate", 1), ("report", 1)]));
}
