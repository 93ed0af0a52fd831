//! Ctrl-C: the first lets calls in flight land, the second stops now, and the same command continues.

use super::provider::{Act, Provider};
use super::quiz::{question, quiz};
use super::running::Running;

const CASES: usize = 10;

/// Interrupts a run while two queries are in flight, and continues it.
fn interrupted_once(signal: &str) {
    let provider = Provider::new(|asked| if asked.request > 4 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 2");
    let mut running = Running::start(&space, "events", "quiz.yaml");
    provider.wait_for_held(2);
    running.signal(signal);
    running.wait_for("interrupted");
    provider.release();
    let first = running.finish().expect(130);
    assert!(first.stderr.contains("interrupted; the same command continues"), "{}", first.stderr);
    assert_eq!(first.row_counts()["retrieve"], 6, "four, and the two that were in flight");
    assert_eq!(provider.requests(), 6, "nothing was asked after the interruption");
    assert!(first.of("published").is_empty());

    let again = space.run("quiz.yaml").expect(0);
    assert_eq!(again.row_counts()["retrieve"], CASES - 6);
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
    assert_eq!(space.run("quiz.yaml").expect(0).executed(), Default::default());
}

#[test]
fn the_first_ctrl_c_lets_calls_in_flight_land() {
    interrupted_once("INT");
}

#[test]
fn sigterm_is_a_first_ctrl_c() {
    interrupted_once("TERM");
}

#[test]
fn the_second_ctrl_c_stops_now() {
    let provider = Provider::new(|asked| if asked.request > 3 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    let mut running = Running::start(&space, "events", "quiz.yaml");
    provider.wait_for_held(1);
    running.signal("INT");
    running.wait_for("interrupted");
    running.signal("INT");
    // The held query is not waited for: it is only released below.
    assert_eq!(running.finish().code, 130);
    provider.release();
    let again = space.run("quiz.yaml").expect(0);
    assert_eq!(again.row_counts()["retrieve"], CASES - 3);
}

#[test]
fn an_interruption_ends_the_wait_before_another_attempt() {
    let provider = Provider::new(|asked| match asked.request {
        1 => Act::Status(429, "Retry-After: 250"),
        _ => Act::Answer,
    });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    let mut running = Running::start(&space, "events", "quiz.yaml");
    running.wait_for("row_retried");
    running.signal("INT");
    let first = running.finish().expect(130);
    assert!(first.of("row_failed").is_empty(), "a case that was not tried to its end has not failed");
    assert_eq!(provider.requests(), 1);
    space.run("quiz.yaml").expect(0);
}

#[test]
fn what_an_interrupted_run_paid_for_survives_garbage_collection() {
    let provider = Provider::new(|asked| if asked.request == 4 { Act::Hold } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    let mut running = Running::start(&space, "events", "quiz.yaml");
    provider.wait_for_held(1);
    running.signal("INT");
    running.wait_for("interrupted");
    provider.release();
    running.finish().expect(130);
    space.ragstage("cache gc --apply --grace-hours 0").expect(0);
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
}
