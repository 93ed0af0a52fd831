//! Asking for more than what is stale (`--force`), for less (`--until`), for a pace (`--jobs`), and for as much as possible
//! in spite of a fault (`--keep-going`).

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT};
use super::space::{Space, steps};

#[test]
fn a_forced_stage_runs_again_and_then_rests() {
    let space = small::evaluated();
    let ran = space.run("--force build").expect(0);
    // The same chunks and the same index: nothing after them is stale.
    assert_eq!(ran.executed(), steps(&[("chunk", 1), ("full_text_index", 1)]));
    assert_eq!(ran.row_counts(), steps(&[("chunk", DOCUMENT_COUNT)]));
    for event in ran.of("action_stale") {
        assert_eq!(event["reasons"][0]["reason"], "forced", "{event}");
    }
    space.run("").expect(0).expect_nothing();
}

#[test]
fn forced_queries_are_asked_again() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    let ran = space.run("--force retrieve").expect(0);
    assert_eq!(ran.items("retrieve"), small::case_ids());
    assert_eq!(space.read("asked.log").lines().count(), 2 * CASE_COUNT);
    // The system said the same; what was observed of it is new.
    assert_eq!(ran.executed(), steps(&[("retrieve", 1), ("aggregate", 1), ("report", 1)]));
    space.run("").expect(0).expect_nothing();
    // Twice is twice.
    space.run("--force query").expect(0);
    assert_eq!(space.read("asked.log").lines().count(), 3 * CASE_COUNT);
}

#[test]
fn another_evaluation_in_the_store_is_not_affected() {
    let space = small::evaluated();
    space.write("other.yaml", &small::EVALUATION.replace("name: small", "name: other"));
    space.run("other.yaml").expect(0);
    space.run("--force score --force answer").expect(0);
    space.run("other.yaml").expect(0).expect_nothing();
    space.run("evaluation.yaml other.yaml").expect(0).expect_nothing();
}

#[test]
fn what_cannot_be_forced_is_a_wrong_command_line() {
    let space = small::evaluated();
    let ran = space.ragstage("run --force retreive").expect(2);
    assert!(ran.stderr.contains("expected a stage (prepare, materialize, build, query, score, aggregate) or a step"));
}

#[test]
fn until_a_stage_and_then_the_rest() {
    let space = Space::new();
    small::write(&space);
    let ran = space.run("--until build").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[("sources", 1), ("prepare", 1), ("materialize", 1), ("chunk", 1), ("full_text_index", 1)])
    );
    assert!(ran.stdout.contains("Stopped after build, as asked."), "{}", ran.stdout);
    assert!(!space.path("reports").exists());
    let ran = space.run("--until prepare").expect(0).expect_nothing();
    assert!(ran.stdout.contains("Stopped after prepare, as asked."));
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("retrieve", 1), ("answer", 1), ("score", 2), ("aggregate", 1), ("report", 1)]));
}

#[test]
fn a_run_that_stopped_early_does_not_forget_what_was_before() {
    let space = small::evaluated();
    space.run("--until prepare").expect(0).expect_nothing();
    let report = space.ragstage("report").expect(0);
    assert!(report.stdout.contains("evidence_recall@3"), "{}", report.stdout);
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 2");
    let plan = space.ragstage("plan").expect(0);
    assert!(plan.stdout.contains("top_k: 3 -> 2"), "{}", plan.stdout);
}

#[test]
fn one_job_at_a_time() {
    let space = Space::new();
    small::write_units(&space);
    let ran = space.run("--jobs 1").expect(0);
    // No action computes a row while another one is at it.
    let mut labels: Vec<&str> = ran.of("row_done").iter().filter_map(|event| event["label"].as_str()).collect();
    labels.dedup();
    let in_turn = labels.len();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), in_turn, "rows of several actions at once");
    assert_eq!(ran.executed().get("retrieve"), Some(&4));
    for jobs in ["0", "-1", "many"] {
        space.ragstage(&format!("run --jobs={jobs}")).expect(2);
    }
}

/// `evaluation.yaml` is sound; `broken.yaml` names a file of cases that is no JSON.
fn with_a_broken_one() -> Space {
    let space = Space::new();
    small::write(&space);
    space.write("broken.jsonl", "{\"case_id\": \"a\", \"query\": \"why?\"}\n{\"case_id\": \n");
    let broken =
        small::EVALUATION.replace("name: small", "name: broken").replace("cases: cases.jsonl", "cases: broken.jsonl");
    space.write("broken.yaml", &broken);
    space
}

#[test]
fn the_sound_one_of_two_is_finished_where_that_is_asked_for() {
    let space = with_a_broken_one();
    let ran = space.run("--keep-going broken.yaml evaluation.yaml").expect(3);
    assert!(ran.stderr.contains("broken.jsonl:2"), "{}", ran.stderr);
    assert!(space.path("reports/small/report.json").is_file());
    assert!(!space.path("reports/broken").exists());
    space.run("").expect(0).expect_nothing();
}

#[test]
fn without_that_nothing_more_is_begun_after_a_fault() {
    let space = with_a_broken_one();
    for name in ["broken.yaml", "evaluation.yaml"] {
        space.write(name, &(space.read(name) + "limits: {keep_going: false}\n"));
    }
    let ran = space.run("--jobs 1 broken.yaml evaluation.yaml").expect(3);
    assert!(ran.stderr.contains("broken.jsonl:2"), "{}", ran.stderr);
    for step in ["materialize", "chunk", "retrieve"] {
        assert!(!ran.executed().contains_key(step), "{step} ran after the fault");
    }
    assert!(!space.path("reports").exists());
}
