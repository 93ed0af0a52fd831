//! Scoring again never asks a query: `ragstage score` reads cached responses or says what is missing.

use super::small::{self, CASE_COUNT};
use super::space::{Space, steps};

#[test]
fn a_new_evaluator_asks_zero_queries() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    space.edit("evaluation.yaml", "answer_contains]", "answer_contains, token_f1, nDCG@2]");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 2), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.row_counts(), steps(&[("score", 2 * CASE_COUNT)]));
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    assert!(space.json("reports/small/report.json")["score_summary"].to_string().contains("token_f1"));
}

#[test]
fn an_evaluator_of_the_command_line() {
    let space = small::evaluated();
    let ran = space.score("--evaluator nDCG@2").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert!(ran.stdout.contains("nDCG@2"), "{}", ran.stdout);
    space.score("--evaluator nDCG@2").expect(0).expect_nothing();
    // The file did not change, so neither did what it asks for.
    space.run("").expect(0).expect_nothing();
    assert!(!space.read("reports/small/report.md").contains("nDCG@2"));
}

#[test]
fn corrected_gold() {
    let space = small::evaluated();
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("prepare", 1), ("score", 2), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.rows(), ["score pay", "score pay"]);
}

#[test]
fn corrected_evidence_is_read_by_evaluators_of_evidence_alone() {
    let space = small::evaluated();
    space.edit("cases.jsonl", "\"Entry costs six crowns.\"", "\"Entry costs six crowns\"");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed().get("score"), Some(&2));
    // That of answers finds all its scores again.
    assert_eq!(ran.rows(), ["score entry"]);
}

#[test]
fn without_any_response_it_fails_and_names_what_is_missing() {
    let space = Space::new();
    small::write(&space);
    let ran = space.score("").expect(3);
    assert_eq!(ran.executed(), steps(&[("sources", 1), ("prepare", 1)]));
    assert!(ran.stderr.contains("responses are missing, and scoring never asks a query"), "{}", ran.stderr);
    assert!(ran.stderr.contains("materialize harbour/corpus fine (first build)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("ragstage run"), "{}", ran.stderr);
    assert!(!space.path("reports").exists());
}

#[test]
fn with_one_response_missing_it_fails_and_leaves_the_report_alone() {
    let space = small::evaluated();
    let before = space.read("reports/small/report.json");
    let added = small::case("boats", "How many boats sank?", "eleven", ("storm", "sank eleven boats"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &added));
    let ran = space.score("").expect(3);
    assert!(ran.stderr.contains("retrieve harbour/corpus fine bm25"), "{}", ran.stderr);
    assert!(!ran.executed().contains_key("retrieve"));
    assert_eq!(ran.rows(), Vec::<String>::new());
    assert_eq!(space.read("reports/small/report.json"), before);

    space.run("").expect(0);
    space.score("").expect(0).expect_nothing();
}
