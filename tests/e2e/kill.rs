//! A run that is killed (-9) at any moment loses no paid answer, and the same command completes it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::quiz::{question, quiz};
use super::running::Running;
use super::space::{Ran, Space};
use super::values::Values;

const CASES: usize = 40;

/// A quiz that is answered by `fixtures/scripted/system.sh`, one query at a time.
fn scripted() -> Space {
    let space = quiz(CASES, "command: [sh, system.sh, log]", "concurrency: 1");
    space.write("system.sh", include_str!("../../fixtures/scripted/system.sh"));
    space.write("log", "");
    space
}

/// How often each question was asked since the log was last emptied, which it is now.
fn take_counts(space: &Space) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in space.read("log").lines() {
        *counts.entry(line.to_string()).or_insert(0) += 1;
    }
    space.write("log", "");
    counts
}

/// Runs the quiz in a store of its own, with a variable that tells the system when to kill.
fn run(space: &Space, store: &str, kill: Option<(&str, usize)>) -> Ran {
    let mut command = space.command();
    if let Some((when, n)) = kill {
        command.env(when, n.to_string());
    }
    Running::spawn(space, command, "events", &format!("quiz.yaml --store {store} --output {store}/report")).finish()
}

fn values(space: &Space, store: &str) -> Values {
    Values::of(&space.path(store), &space.path(store).join("report"))
}

/// Kills a run at the n-th query for every n, and compares what the next one gives with an undisturbed run.
fn kill_at_every_query(when: &str) {
    let space = scripted();
    run(&space, "undisturbed", None).expect(0);
    let expected = values(&space, "undisturbed");
    assert_eq!(take_counts(&space), (1..=CASES).map(|number| (question(number), 1)).collect());
    for n in 1..=CASES {
        let store = format!("{when}-{n}");
        let killed = run(&space, &store, Some((when, n)));
        assert_eq!(killed.code, -1, "{store}: the first run was killed");
        let again = run(&space, &store, None).expect(0);
        assert_eq!(values(&space, &store), expected, "{store}");
        let counts = take_counts(&space);
        for number in 1..=CASES {
            let most = if number == n { 2 } else { 1 };
            let times = counts[&question(number)];
            assert!((1..=most).contains(&times), "{store}: {} was asked {times} times", question(number));
        }
        let asked = again.rows().iter().filter(|row| row.starts_with("retrieve ")).count();
        let durable = CASES - asked;
        // What was answered before the one in flight was durable before that one was asked.
        assert!(durable + 1 == n || (durable == n && when == "KILL_AFTER"), "{store}: {durable} rows were kept");
    }
}

#[test]
fn killed_with_a_query_in_flight() {
    kill_at_every_query("KILL_BEFORE");
}

#[test]
fn killed_while_a_row_is_being_written() {
    kill_at_every_query("KILL_AFTER");
}

/// An evaluation that builds its own knowledge base, so that a kill can hit every stage.
fn built() -> Space {
    let space = Space::new();
    let (mut documents, mut cases) = (String::new(), String::new());
    for n in 1..=60 {
        documents += &format!(
            "{{\"document_id\": \"d{n}\", \"name\": \"d{n}.txt\", \"media_type\": \"text/plain\", \"text\": \"Pier {n} was built by the harbour \
             board. It carries {n} lamps.\"}}\n"
        );
        cases += &format!(
            "{{\"case_id\": \"c{n}\", \"query\": \"How many lamps does pier {n} carry?\", \"expected\": \
             {{\"answers\": [\"{n} lamps\"], \"evidence\": [{{\"reference_id\": \"d{n}\"}}]}}}}\n"
        );
    }
    space.write("documents.jsonl", &documents);
    space.write("cases.jsonl", &cases);
    space.write(
        "evaluation.yaml",
        "name: piers\n\
         benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}\n\
         recipes:\n  - {name: small, chunk: {size: 8}}\n  - {name: large, chunk: {size: 100}}\n\
         evaluators: [evidence_recall@5, answer_contains, nDCG@10]\n\
         statistics: {resamples: 100}\n",
    );
    space
}

#[test]
fn killed_at_any_moment_of_building_scoring_and_publishing() {
    let space = built();
    let start = |store: &str| {
        Running::start(&space, &format!("{store}.events"), &format!("--store {store} --output {store}-report"))
    };
    let values = |store: &str| Values::of(&space.path(store), &space.path(&format!("{store}-report")));
    let undisturbed = start("undisturbed").finish().expect(0);
    let steps = undisturbed.events.len();
    let expected = values("undisturbed");
    let report: Vec<PathBuf> = super::values::files(&space.path("undisturbed-report"));
    const KILLS: usize = 16;
    let mut killed = 0;
    for n in 0..KILLS {
        let store = format!("store-{n}");
        // Killed when it has told so much of its story; the same store is then hit again at once.
        for told in [steps * n / KILLS, 0] {
            let mut running = start(&store);
            let events = space.path(&format!("{store}.events"));
            while super::space::read_events(&events).len() < told && !running.ended() {
                std::thread::sleep(Duration::from_millis(1));
            }
            killed += usize::from(running.kill().code == -1);
        }
        start(&store).finish().expect(0);
        assert_eq!(values(&store), expected, "{store}");
        let names = |files: &[PathBuf]| files.iter().filter_map(|path| path.file_name()).map(Into::into).collect();
        let (found, wanted): (Vec<PathBuf>, Vec<PathBuf>) =
            (names(&super::values::files(&space.path(&format!("{store}-report")))), names(&report));
        assert_eq!(found, wanted, "{store}: nothing half-written is left beside the report");
        let verified = space.ragstage(&format!("cache verify --store {store}")).expect(0);
        assert!(verified.stdout.contains("the store is whole"), "{}", verified.stdout);
    }
    assert!(killed > 0, "no run was alive when it was to be killed");
}

#[test]
fn killed_while_files_are_published() {
    let space = built();
    space.run("").expect(0);
    let expected = Values::of(&space.path(".ragstage"), &space.path("reports/piers"));
    for round in 0..20 {
        std::fs::remove_dir_all(space.path("reports")).expect("remove");
        let mut running = Running::start(&space, "events", "");
        // From the first published file on, or at the end of the run where that was faster.
        running.wait_for("published");
        std::thread::sleep(Duration::from_micros(200 * round));
        running.kill();
        let again = space.run("").expect(0);
        assert_eq!(again.executed(), BTreeMap::new());
        assert_eq!(Values::of(&space.path(".ragstage"), &space.path("reports/piers")), expected);
        assert_eq!(super::values::files(&space.path("reports")).len(), 4, "four files and nothing half-written");
    }
}
