//! Several evaluations at once, or several recipes in one, share every action that they have in common.

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT, EVALUATION};
use super::space::{Space, steps};

fn two_files() -> Space {
    let space = Space::new();
    small::write(&space);
    let other = EVALUATION
        .replace("name: small", "name: other")
        .replace("answer_contains]", "token_f1]")
        .replace("resamples: 100", "resamples: 50");
    space.write("other.yaml", &other);
    space
}

#[test]
fn two_files_at_once_share_what_they_have_in_common() {
    let space = two_files();
    let ran = space.run("evaluation.yaml other.yaml").expect(0);
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
            ("score", 3),
            ("aggregate", 2),
            ("report", 2),
        ])
    );
    for name in ["small", "other"] {
        assert!(space.path(&format!("reports/{name}/report.html")).is_file());
    }
    space.run("other.yaml").expect(0).expect_nothing();
    space.run("other.yaml evaluation.yaml").expect(0).expect_nothing();
}

#[test]
fn two_files_one_after_the_other_share_it_too() {
    let space = two_files();
    space.run("evaluation.yaml").expect(0);
    let ran = space.run("other.yaml").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.row_counts(), steps(&[("score", CASE_COUNT)]));
}

#[test]
fn the_benchmark_needs_no_name_to_be_shared() {
    let space = two_files();
    for name in ["evaluation.yaml", "other.yaml"] {
        space.edit(name, "  name: harbour\n", "");
    }
    space.run("evaluation.yaml").expect(0);
    let ran = space.run("other.yaml").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
}

#[test]
fn two_benchmarks_in_one_run_are_kept_apart() {
    let space = two_files();
    // The same options and the same name, but another dataset.
    space.write("elsewhere/documents.jsonl", &space.read("documents.jsonl").replace("1871", "1999"));
    space.write("elsewhere/files/pier.txt", &space.read("files/pier.txt"));
    space.write("elsewhere/cases.jsonl", &space.read("cases.jsonl").replace("1871", "1999"));
    space.edit("other.yaml", "documents: documents.jsonl", "documents: elsewhere/documents.jsonl");
    space.edit("other.yaml", "cases: cases.jsonl", "cases: elsewhere/cases.jsonl");
    let ran = space.run("evaluation.yaml other.yaml").expect(0);
    assert_eq!(ran.executed().get("retrieve"), Some(&2));
    // The documents that both have are parsed and cut once, or twice where both units get to them at the same time.
    let parsed = ran.items("materialize").len();
    assert!((DOCUMENT_COUNT + 1..=2 * DOCUMENT_COUNT).contains(&parsed), "{parsed}");
    assert!(space.read("reports/small/report.json").contains("1871"));
    assert!(!space.read("reports/other/report.json").contains("in 1871"));
    space.run("other.yaml").expect(0).expect_nothing();
    space.run("evaluation.yaml").expect(0).expect_nothing();
}

#[test]
fn a_matrix_of_recipes_shares_the_stages_before_they_differ() {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "queries:\n",
        "  - {name: k1, chunk: {size: 12}, full_text: {k1: 1.4}}\n  - {name: unstemmed, chunk: {size: 12}, full_text: {stem: false}}\n  - {name: coarse, chunk: {size: 60}}\nqueries:\n",
    );
    let ran = space.run("").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[
            ("sources", 1),
            ("prepare", 1),
            ("materialize", 1),
            // Two sizes; one of them indexed in two ways; one of these ranked in two ways.
            ("chunk", 2),
            ("full_text_index", 3),
            ("retrieve", 4),
            ("answer", ran.executed()["answer"]),
            ("score", ran.executed()["score"]),
            ("aggregate", 1),
            ("report", 1),
        ])
    );
    let summary = space.json("reports/small/report.json")["score_summary"].clone();
    for recipe in ["fine", "k1", "unstemmed", "coarse"] {
        assert!(summary.get(format!("{recipe}.bm25.answer_contains")).is_some(), "{summary}");
    }
}

#[test]
fn two_evaluations_of_one_name_are_an_error() {
    let space = two_files();
    space.edit("other.yaml", "name: other", "name: small");
    let ran = space.ragstage("run evaluation.yaml other.yaml").expect(3);
    assert!(ran.stderr.contains("evaluation.yaml and other.yaml are both named \"small\""), "{}", ran.stderr);
    assert!(!space.path(".ragstage").exists());
}

#[test]
fn the_faults_of_all_files_are_told() {
    let space = two_files();
    space.edit("evaluation.yaml", "top_k: 3", "topk: 3");
    space.edit("other.yaml", "resamples: 50", "resample: 50");
    let ran = space.ragstage("run evaluation.yaml other.yaml").expect(3);
    for fault in ["evaluation.yaml:11:42", "did you mean `top_k`?", "other.yaml:14:14", "did you mean `resamples`?"] {
        assert!(ran.stderr.contains(fault), "no {fault:?} in\n{}", ran.stderr);
    }
}
