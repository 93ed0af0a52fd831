//! A benchmark that a program prints: it is started when its key changed and never else.

use std::time::{Duration, Instant};

use super::running::Running;
use super::space::{Space, steps};

/// The program: it notes that it was started, and prints what is in a file, with the documents of a folder.
const PROGRAM: &str = r#"#!/bin/sh
echo started >> starts.txt
cat manifest.jsonl
for name in tide pier; do
  echo "{\"type\": \"document\", \"document_id\": \"$name\", \"name\": \"$name.txt\", \"media_type\": \"text/plain\", \"path\": \"$name.txt\"}"
done
cat cases.jsonl
"#;

const CASES: &str = concat!(
    "{\"type\": \"case\", \"case_id\": \"when\", \"query\": \"When is the tide high?\", \"expected\": {\"answers\": [\"noon\"]}}\n",
    "{\"type\": \"case\", \"case_id\": \"long\", \"query\": \"How long is the pier?\", \"expected\": {\"answers\": [\"300 metres\"]}}\n",
);

const EVALUATION: &str = r#"name: run
benchmark:
  adapter: command
  command: [sh, make.sh]
  files: [cases.jsonl, manifest.jsonl]
  root: files
recipe: {name: plain}
queries:
  - {mode: full_text_search, name: bm25, top_k: 2}
statistics: {resamples: 100}
"#;

fn space() -> Space {
    let space = Space::new();
    space.write("make.sh", PROGRAM);
    space.write(
        "manifest.jsonl",
        "{\"type\": \"manifest\", \"name\": \"harbour\", \"default_evaluators\": [\"answer_contains\"]}\n",
    );
    space.write("cases.jsonl", CASES);
    space.write("files/tide.txt", "The tide is high at noon.");
    space.write("files/pier.txt", "The pier is 300 metres long.");
    space.write("evaluation.yaml", EVALUATION);
    space
}

fn starts(space: &Space) -> usize {
    if space.path("starts.txt").exists() { space.read("starts.txt").lines().count() } else { 0 }
}

#[test]
fn a_warm_run_starts_no_program() {
    let space = space();
    // A plan starts nothing, and knows that something is to come.
    let plan = space.ragstage("plan --check").expect(4);
    assert!(plan.stdout.contains("sources benchmark"), "{}", plan.stdout);
    assert!(plan.stdout.contains("run: a program prints its benchmark, and a plan starts none."), "{}", plan.stdout);
    let explained = space.ragstage("explain prepare").expect(0);
    assert!(
        explained.stdout.contains("prepare benchmark") && explained.stdout.contains("records"),
        "{}",
        explained.stdout
    );
    space.ragstage("graph").expect(0);
    space.ragstage("status").expect(0);
    assert_eq!(starts(&space), 0);
    // Once it is prepared all is known.
    assert_eq!(space.run("--until prepare").expect(0).executed(), steps(&[("sources", 1), ("prepare", 1)]));
    let plan = space.ragstage("plan --format json").expect(0).json();
    assert_eq!(plan["unprepared"].as_array().map(Vec::len), Some(0));
    assert!(plan["actions"].as_array().is_some_and(|actions| actions.len() > 2), "{plan}");
    let ran = space.run("").expect(0);
    assert!(!ran.executed().contains_key("sources"));
    let report = space.json("reports/run/report.json");
    assert_eq!(report["benchmark"]["name"], "harbour");
    assert_eq!(report["score_summary"]["bm25.answer_contains"], 1.0);
    assert_eq!(starts(&space), 1);
    space.run("").expect(0).expect_nothing();
    space.ragstage("plan --check").expect(0);
    space.ragstage("status").expect(0);
    space.score("").expect(0).expect_nothing();
    assert_eq!(starts(&space), 1);
}

#[test]
fn it_is_started_when_its_key_changed_and_only_what_it_changed_follows() {
    let space = space();
    space.run("").expect(0);
    let edits: [(&str, &dyn Fn()); 3] = [
        ("a file", &|| space.write("cases.jsonl", &format!("{CASES}\n"))),
        ("its own file, which is not declared", &|| space.edit("make.sh", "started", "begun")),
        ("its version", &|| space.edit("evaluation.yaml", "  root:", "  version: two\n  root:")),
    ];
    for (started, (what, edit)) in (2..).zip(edits) {
        edit();
        let ran = space.run("").expect(0);
        // It printed the same, so nothing follows; the blank line is none.
        let executed =
            if what == "a file" { steps(&[("sources", 1), ("prepare", 1)]) } else { steps(&[("sources", 1)]) };
        assert_eq!(ran.executed(), executed, "{what}");
        assert_eq!(starts(&space), started, "{what}");
    }
    // What is not in the key does not start it.
    space.edit("evaluation.yaml", "  root:", "  timeout_s: 60\n  environment: {A: b}\n  root:");
    space.run("").expect(0).expect_nothing();
    // A document's text is no affair of the program.
    space.write("files/tide.txt", "The tide is high at dusk.");
    let ran = space.run("").expect(0);
    assert!(ran.executed().contains_key("prepare") && !ran.executed().contains_key("sources"));
    assert_eq!(starts(&space), 4);
    assert_eq!(space.json("reports/run/report.json")["score_summary"]["bm25.answer_contains"], 0.5);
    // One case more asks that case.
    space.write(
        "cases.jsonl",
        &format!("{CASES}{}\n", "{\"type\": \"case\", \"case_id\": \"new\", \"query\": \"Is the pier long?\"}"),
    );
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), ["new"]);
}

#[test]
fn bad_ends_are_told_and_not_kept() {
    let space = space();
    let fails = |script: &str, code: i32, expected: &[&str]| {
        space.write("make.sh", script);
        let ran = space.run("").expect(code);
        for text in expected {
            assert!(ran.stderr.contains(text), "{script}: {}", ran.stderr);
        }
        assert!(!space.path("reports/run").exists());
    };
    fails(
        "echo '{\"type\": ' ; echo no disk >&2; exit 7",
        3,
        &["output of sh make.sh: \"sh\" ended with exit code 7", "no disk"],
    );
    fails("cat manifest.jsonl; echo Loading...; cat cases.jsonl", 3, &["output of sh make.sh:2:1: invalid JSON"]);
    fails("cat cases.jsonl cases.jsonl", 3, &["output of sh make.sh:3: case_id \"when\" is taken by line 1"]);
    fails("true", 3, &["output of sh make.sh: expected at least one document, found none"]);
    fails(
        "cat cases.jsonl; echo '{\"type\": \"document\", \"document_id\": \"d\", \"name\": \"d\", \"media_type\": \"text/plain\", \"path\": \"gone\"}'",
        3,
        &["output of sh make.sh:3: `path` \"gone\" is missing on disk"],
    );
    space.edit("evaluation.yaml", "  root:", "  timeout_s: 0.3\n  root:");
    fails("echo waiting >&2; sleep 30", 3, &["\"sh\" did not end within 0.3 s; its standard error ends with: waiting"]);
    // What failed is tried again, though its files are what they were.
    space.write("make.sh", "echo started >> starts.txt; test -e ready && sh whole.sh");
    space.write("whole.sh", PROGRAM);
    space.edit("evaluation.yaml", "  timeout_s: 0.3\n", "");
    space.run("").expect(3);
    space.write("ready", "");
    space.run("").expect(0);
    assert_eq!(starts(&space), 3);
}

#[test]
fn a_program_that_cannot_be_started_is_a_provider_that_cannot_be_used() {
    let space = space();
    space.edit("evaluation.yaml", "[sh, make.sh]", "[no-such-program-here]");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("cannot start \"no-such-program-here\""), "{}", ran.stderr);
    space.edit("evaluation.yaml", "cases.jsonl, manifest", "absent.jsonl, manifest");
    let ran = space.run("").expect(3);
    assert!(
        ran.stderr.contains("absent.jsonl: the benchmark's files/absent.jsonl file does not exist"),
        "{}",
        ran.stderr
    );
}

#[test]
fn secrets_reach_the_program_and_nothing_else() {
    let space = space();
    space.edit("evaluation.yaml", "  root:", "  environment: {TOKEN: '${MADE_UP_TOKEN}'}\n  root:");
    let run = |script: &str| {
        space.write("make.sh", script);
        let mut command = space.command();
        command.args(["run"]).env("MADE_UP_TOKEN", "sk-made-up-12345");
        super::space::Ran::of_command(command)
    };
    run(&format!("test \"$TOKEN\" = sk-made-up-12345 || exit 9\n{PROGRAM}")).expect(0);
    let told = run("echo \"bad key $TOKEN\" >&2; exit 1").expect(3);
    assert!(told.stderr.contains("bad key ***") && !told.stderr.contains("made-up-12345"), "{}", told.stderr);
    let printed = run(&format!(
        "{PROGRAM}echo \"{{\\\"type\\\": \\\"case\\\", \\\"case_id\\\": \\\"x\\\", \\\"query\\\": \\\"$TOKEN\\\"}}\""
    ))
    .expect(3);
    assert!(printed.stderr.contains("the environment variable MADE_UP_TOKEN"), "{}", printed.stderr);
    for (name, bytes) in space.files(".ragstage") {
        assert!(!String::from_utf8_lossy(&bytes).contains("made-up-12345"), "{name}");
    }
}

#[test]
fn ctrl_c_ends_the_program_and_the_same_command_starts_it_again() {
    let space = space();
    space.write(
        "make.sh",
        "echo started >> starts.txt; test -e ready || { sleep 600; echo too late > late.txt; }; sh whole.sh",
    );
    space.write("whole.sh", PROGRAM);
    let running = Running::start(&space, "events", "evaluation.yaml");
    let begun = Instant::now();
    while starts(&space) == 0 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    let first = running.finish().expect(130);
    assert!(first.stderr.contains("interrupted; the same command continues"), "{}", first.stderr);
    assert!(!space.path("late.txt").exists());
    space.write("ready", "");
    space.run("").expect(0);
    assert_eq!(starts(&space), 3, "once before, once again, and once by the program that it starts");
}

#[test]
fn what_it_printed_is_made_again_where_the_store_lost_it() {
    let space = space();
    space.run("").expect(0);
    let printed = space.values(".ragstage", "run")["sources benchmark"]["records"].clone();
    let blob = space.path(".ragstage").join("cas-v1").join(&printed[..2]).join(&printed[2..]);
    std::fs::remove_file(&blob).unwrap_or_else(|error| panic!("{}: {error}", blob.display()));
    space.edit("evaluation.yaml", "  root:", "  sample: 1\n  root:");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed()["prepare"], 1);
    assert_eq!(starts(&space), 2);
    space.run("").expect(0).expect_nothing();
    assert_eq!(starts(&space), 2);
}
