//! `examples/make`: a batch of evaluations under GNU make, which calls ragstage only when something that was read is newer.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;

use crate::space::{Space, read_events};

/// A copy of the example.
struct Example {
    space: Space,
    make: &'static str,
}

/// What one invocation of make did.
struct Made {
    code: i32,
    output: String,
    /// The events of each run record that it added.
    runs: Vec<Vec<Value>>,
}

impl Example {
    /// `None`, said loudly, where there is no GNU make.
    fn copied() -> Option<Self> {
        let gnu = |make: &&str| {
            let version = Command::new(make).arg("--version").output();
            version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU Make"))
        };
        let Some(make) = ["make", "gmake"].into_iter().find(gnu) else {
            // Past the harness, which swallows what a passing test prints with `eprintln!`.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: there is no GNU make; install it to run the tests of examples/make"
            );
            return None;
        };
        let space = Space::new();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/make"), &space.path("."));
        Some(Example { space, make })
    }

    /// Runs make with `arguments`, words separated by blanks, with the built binary on the search path.
    fn make(&self, arguments: &str) -> Made {
        let before = self.records();
        let binary = Path::new(env!("CARGO_BIN_EXE_ragstage")).parent().expect("a folder");
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(binary.to_path_buf()).chain(std::env::split_paths(&others));
        let path: OsString = std::env::join_paths(path).expect("a search path");
        let output = Command::new(self.make)
            .args(arguments.split_whitespace())
            .current_dir(self.space.path("."))
            .env("PATH", path)
            .env("LC_ALL", "C")
            // These tests may themselves be run by a make, whose flags and job server are not meant for this one.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .env_remove("RAGSTAGE")
            .env_remove("RAGSTAGE_STORE")
            .output()
            .expect("make starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Made {
            code: output.status.code().unwrap_or(-1),
            output: text(&output.stdout) + &text(&output.stderr),
            runs: self.records().difference(&before).map(|record| read_events(&record.join("events.jsonl"))).collect(),
        }
    }

    fn records(&self) -> BTreeSet<PathBuf> {
        let Ok(entries) = fs::read_dir(self.space.path(".ragstage/runs")) else { return BTreeSet::new() };
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    /// Changes a file, as an editor does.
    fn edit(&self, name: &str, old: &str, new: &str) {
        self.space.edit(name, old, new);
        self.touch(name);
    }

    /// Sets a file's time to now. The file system's own clock may be some milliseconds behind.
    fn touch(&self, name: &str) {
        let file = File::options().write(true).open(self.space.path(name)).expect("open");
        file.set_modified(SystemTime::now()).expect("touch");
    }
}

impl Made {
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code\n{}", self.output);
        self
    }

    /// Asserts that make itself found nothing to do.
    fn expect_idle(self) {
        let made = self.expect(0);
        assert!(made.output.contains("Nothing to be done for"), "{}", made.output);
        assert!(made.runs.is_empty(), "{:?}", made.runs);
    }

    /// How many actions ran, by step.
    fn executed(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for event in self.of("action_finished") {
            *counts.entry(event["step"].as_str().expect("a step")).or_insert(0) += 1;
        }
        counts
    }

    fn of(&self, event: &'static str) -> impl Iterator<Item = &Value> {
        self.runs.iter().flatten().filter(move |value| value["event"] == event)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        // Whoever tried the example in place left a store and reports there.
        match entry.file_type().expect("a type") {
            kind if kind.is_dir() && entry.file_name() == "library" => copy(&entry.path(), &target),
            kind if kind.is_file() => drop(fs::copy(entry.path(), target).expect("copy")),
            _ => {}
        }
    }
}

#[test]
fn the_second_time_make_has_nothing_to_do() {
    let Some(example) = Example::copied() else { return };
    let first = example.make("").expect(0);
    assert_eq!(first.runs.len(), 2, "{}", first.output);
    assert!(example.space.path("reports/chunks/report.html").is_file());
    example.make("").expect_idle();
    let one = example.make(".stamps/chunks").expect(0);
    assert!(one.output.contains("'.stamps/chunks' is up to date"), "{}", one.output);
    example.make("check").expect(0);
}

#[test]
fn an_input_edited_while_the_run_goes_on_is_newer_than_the_stamp() {
    let Some(example) = Example::copied() else { return };
    example.make("chunks").expect(0);
    let written = |name: &str| fs::metadata(example.space.path(name)).and_then(|file| file.modified()).expect("a time");
    // The report stands for whatever is written between the start of a run and its end.
    assert!(written(".stamps/chunks") < written("reports/chunks/report.html"));
}

#[test]
fn evaluations_made_at_once_share_what_they_have_in_common() {
    let Some(example) = Example::copied() else { return };
    let both = example.make("-j2").expect(0);
    assert_eq!(both.runs.len(), 2, "{}", both.output);
    // Of the six scores two are of the same answers.
    let expected = [
        ("sources", 1),
        ("prepare", 1),
        ("materialize", 1),
        ("chunk", 2),
        ("full_text_index", 3),
        ("retrieve", 3),
        ("answer", 3),
        ("score", 5),
        ("aggregate", 2),
        ("report", 2),
    ];
    assert_eq!(both.executed(), BTreeMap::from(expected));
    example.make("").expect_idle();
}

#[test]
fn a_corrected_gold_answer_costs_scores_alone() {
    let Some(example) = Example::copied() else { return };
    example.make("").expect(0);
    example.edit("library/cases.jsonl", "\"two times\"", "\"never\"");
    let made = example.make("").expect(0);
    assert_eq!(made.runs.len(), 2, "{}", made.output);
    let steps: BTreeSet<&str> = made.executed().into_keys().collect();
    assert_eq!(steps, BTreeSet::from(["prepare", "score", "aggregate", "report"]));
    let rows: BTreeSet<(&str, &str)> = made
        .of("row_done")
        .map(|row| (row["step"].as_str().expect("a step"), row["item"].as_str().expect("an item")))
        .collect();
    assert_eq!(rows, BTreeSet::from([("score", "renewals")]));
    example.make("").expect_idle();
}

#[test]
fn a_file_that_was_only_touched_costs_nothing() {
    let Some(example) = Example::copied() else { return };
    example.make("").expect(0);
    example.touch("library/loans.md");
    let made = example.make("").expect(0);
    assert_eq!(made.runs.len(), 2, "{}", made.output);
    assert_eq!(made.executed(), BTreeMap::new());
    assert!(made.of("run_finished").all(|end| end["executed"] == 0 && end["failed"] == 0), "{:?}", made.runs);
    example.make("").expect_idle();
}

#[test]
fn an_evaluation_of_its_own_changes_alone() {
    let Some(example) = Example::copied() else { return };
    example.make("").expect(0);
    example.edit("chunks.yaml", "size: 200", "size: 100");
    let made = example.make("").expect(0);
    let names: Vec<&Value> = made.of("run_started").map(|start| &start["evaluations"]).collect();
    assert_eq!(names, [&serde_json::json!(["chunks"])]);
    assert_eq!(made.executed()["chunk"], 1);
    // A gate that fails fails the target, and goes on doing so.
    example.edit("chunks.yaml", "at_least: 0.5", "at_least: 1.5");
    for _ in 0..2 {
        let made = example.make("").expect(2);
        assert!(made.output.contains("Error 12"), "{}", made.output);
    }
}

#[test]
fn a_deleted_input_is_told_by_ragstage() {
    let Some(example) = Example::copied() else { return };
    example.make("").expect(0);
    let rooms = example.space.path("library/rooms.md");
    let aside = example.space.path("aside.md");
    fs::rename(&rooms, &aside).expect("set aside");
    let made = example.make("-k").expect(2);
    assert!(made.output.contains("`path` \"rooms.md\" is missing on disk"), "{}", made.output);
    assert!(!made.output.contains("No rule to make target"), "{}", made.output);

    // Back with its old time, it makes nothing newer than the stamps, but is still known as an input.
    fs::rename(&aside, &rooms).expect("put back");
    example.make("").expect_idle();
    example.edit("library/rooms.md", "six study rooms", "seven study rooms");
    let made = example.make("").expect(0);
    assert_eq!((made.runs.len(), made.executed()["materialize"]), (2, 1), "{}", made.output);

    // Deleted for good, with its row.
    let documents = example.space.read("library/documents.jsonl");
    let others: Vec<&str> = documents.lines().filter(|line| !line.contains("rooms.md")).collect();
    assert_eq!(others.len() + 1, documents.lines().count());
    example.space.write("library/documents.jsonl", &(others.join("\n") + "\n"));
    example.touch("library/documents.jsonl");
    fs::remove_file(&rooms).expect("delete");
    example.make("").expect(0);
    assert!(!example.space.read(".stamps/chunks.mk").contains("rooms.md"));
    example.make("").expect_idle();
}
