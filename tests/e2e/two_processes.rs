//! Many processes in one store are safe, and what they have in common is computed and paid for once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::provider::{Act, Provider};
use super::quiz::{cases, question, quiz, write_evaluation};
use super::running::Running;
use super::space::{Ran, Space};
use super::values::Values;

const CASES: usize = 12;

/// How often each action ran to its end, by key, over some runs.
fn finished(runs: &[&Ran]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in runs.iter().flat_map(|run| run.of("action_finished")) {
        *counts.entry(event["key"].as_str().expect("a key").to_string()).or_insert(0) += 1;
    }
    counts
}

/// The keys of the actions that a run knew of, whoever computed them.
fn keys(run: &Ran) -> Vec<&str> {
    let kinds = ["action_finished", "action_shared", "action_fresh"];
    let of = |event: &&Value| kinds.contains(&event["event"].as_str().unwrap_or_default());
    run.events.iter().filter(of).filter_map(|event| event["key"].as_str()).collect()
}

fn values(space: &Space, name: &str) -> Values {
    Values::of(&space.path(".ragstage"), &space.path("reports").join(name))
}

#[test]
fn one_evaluation_started_twice_is_computed_once() {
    let provider = Provider::new(|asked| if asked.request == 3 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 2");
    let first = Running::start(&space, "first", "quiz.yaml --output first-report");
    let mut second = Running::start(&space, "second", "quiz.yaml --output second-report");
    provider.wait_for_held(1);
    // Whichever of the two has the lock, the other finds it taken.
    let mut first = first;
    while !waits(&mut first, &space, "first") && !waits(&mut second, &space, "second") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    provider.release();
    let (first, second) = (first.finish().expect(0), second.finish().expect(0));
    let counts = finished(&[&first, &second]);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    for run in [&first, &second] {
        assert!(keys(run).iter().all(|key| counts.contains_key(*key)), "what was not computed here was shared");
    }
    assert!(!(first.of("action_shared").is_empty() && second.of("action_shared").is_empty()));
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
    let of = |report: &str| Values::of(&space.path(".ragstage"), &space.path(report));
    assert_eq!(of("first-report"), of("second-report"));
}

fn waits(running: &mut Running, space: &Space, events: &str) -> bool {
    assert!(!running.ended(), "a query is held, so neither can have ended");
    super::space::read_events(&space.path(events)).iter().any(|event| event["event"] == "action_waiting")
}

#[test]
fn two_evaluations_share_the_actions_they_have_in_common() {
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 2");
    write_evaluation(&space, "again", "cases.jsonl", &provider.system(), "concurrency: 3");
    space.edit("again.yaml", "evaluators: [answer_contains]", "evaluators: [answer_exact_match, answer_contains]");
    let first = Running::start(&space, "first", "quiz.yaml");
    let second = Running::start(&space, "second", "again.yaml");
    let (first, second) = (first.finish().expect(0), second.finish().expect(0));
    let counts = finished(&[&first, &second]);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    let shared = keys(&first).into_iter().filter(|key| keys(&second).contains(key)).count();
    assert_eq!(shared, 5, "sources, prepare, retrieve, answer, answer_contains");
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
}

#[test]
fn evaluations_of_one_batch_ask_what_they_have_in_common_once() {
    // Other cases make other actions, but a case that both have is one row.
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 4");
    space.write("more.jsonl", &cases(4, CASES + 3));
    write_evaluation(&space, "more", "more.jsonl", &provider.system(), "concurrency: 4");
    let run = space.run("quiz.yaml more.yaml").expect(0);
    assert_eq!(run.executed()["retrieve"], 2);
    assert_eq!(provider.counts(), (1..=CASES + 3).map(|number| (question(number), 1)).collect());
}

#[test]
fn a_killed_owner_of_an_action_is_taken_over_from() {
    let provider = Provider::new(|asked| if asked.request == 5 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    let owner = Running::start(&space, "owner", "quiz.yaml");
    provider.wait_for_held(1);
    let mut waiting = Running::start(&space, "waiting", "quiz.yaml");
    waiting.wait_for("action_waiting");
    owner.kill();
    let waiting = waiting.finish().expect(0);
    assert_eq!(waiting.row_counts()["retrieve"], CASES - 4, "four answers were durable when the owner was killed");
    let twice = |number| if number == 5 { 2 } else { 1 };
    let expected: BTreeMap<_, _> = (1..=CASES).map(|number| (question(number), twice(number))).collect();
    assert_eq!(provider.counts(), expected, "only the one in flight was asked twice");

    let undisturbed = quiz(CASES, &Provider::healthy().system(), "concurrency: 1");
    undisturbed.run("quiz.yaml").expect(0);
    assert_eq!(values(&space, "quiz"), values(&undisturbed, "quiz"));
}

#[test]
fn ctrl_c_ends_the_wait_for_another_process() {
    let provider = Provider::new(|asked| if asked.request == 2 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    let owner = Running::start(&space, "owner", "quiz.yaml");
    provider.wait_for_held(1);
    let mut waiting = Running::start(&space, "waiting", "quiz.yaml");
    waiting.wait_for("action_waiting");
    waiting.signal("INT");
    let waiting = waiting.finish().expect(130);
    assert_eq!(waiting.row_counts().get("retrieve"), None);
    provider.release();
    owner.finish().expect(0);
    assert_eq!(provider.requests(), CASES);
}
