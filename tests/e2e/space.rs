//! A folder to tell a story in: write files, run the command, look at what it did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A temporary folder with a store of its own.
pub struct Space {
    folder: tempfile::TempDir,
}

/// What one invocation of the command did.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// What it printed on stdout.
    pub stdout: String,
    /// What it printed on stderr.
    pub stderr: String,
    /// Its events, in order.
    pub events: Vec<Value>,
}

impl Space {
    /// An empty folder.
    pub fn new() -> Self {
        Space { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with its folders.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("write");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Replaces `old`, which must be there, by `new`.
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "{name} does not contain {old:?}");
        self.write(name, &text.replace(old, new));
    }

    /// The command, ready to be given arguments, in this folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragstage"));
        // Named, for a store above the temporary folder would be found otherwise.
        command.current_dir(self.folder.path()).env("RAGSTAGE_STORE", self.path(".ragstage"));
        command
    }

    /// Runs the command with `arguments`, words separated by blanks.
    pub fn ragstage(&self, arguments: &str) -> Ran {
        Ran::from(self.command().args(arguments.split_whitespace()).output().expect("the command starts"))
    }

    /// Runs `ragstage run` (or `score`) with more `arguments`, and takes its events.
    pub fn run(&self, arguments: &str) -> Ran {
        self.with_events("run", arguments)
    }

    /// Runs `ragstage score` with more `arguments`, and takes its events.
    pub fn score(&self, arguments: &str) -> Ran {
        self.with_events("score", arguments)
    }

    /// A JSON file in the folder.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file below `folder`, sorted, relative to it, with its bytes.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.path(folder);
        let mut open = vec![root.clone()];
        let mut files = BTreeMap::new();
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.expect("a folder's entry").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
                    files.insert(name, std::fs::read(&path).expect("read"));
                }
            }
        }
        files
    }

    /// Each action of the latest run of `evaluation` in the store at `store`, by label, with the digests of its values.
    pub fn values(&self, store: &str, evaluation: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        let folder = self.path(store).join("runs");
        let mut runs: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("runs").map(|entry| entry.expect("a run").path()).collect();
        // Ids begin with the second; of runs within one second, the one that was written last counts.
        runs.sort_by_key(|run| std::fs::metadata(run.join("actions.json")).and_then(|file| file.modified()).ok());
        let read = |path: PathBuf| -> Value {
            serde_json::from_slice(&std::fs::read(path).expect("a run record")).expect("JSON")
        };
        let run = runs.iter().rev().find(|run| read(run.join("run.json"))["evaluation"] == evaluation).expect("a run");
        let actions = read(run.join("actions.json"));
        let mut values = BTreeMap::new();
        for (label, action) in actions.as_object().expect("actions") {
            // Latencies are observations, and a report shows them.
            if label.starts_with("report ") {
                continue;
            }
            let outputs: BTreeMap<String, String> = action["outputs"]
                .as_object()
                .expect("outputs")
                .iter()
                .filter(|(name, _)| !["observations", "latency"].contains(&name.as_str()))
                .map(|(name, digest)| (name.clone(), digest.as_str().expect("a digest").to_string()))
                .collect();
            values.insert(label.clone(), outputs);
        }
        values
    }

    fn with_events(&self, verb: &str, arguments: &str) -> Ran {
        let events = self.path(".events");
        let output = self
            .command()
            .args([verb, "--events"])
            .arg(&events)
            .args(arguments.split_whitespace())
            .output()
            .expect("the command starts");
        let mut ran = Ran::from(output);
        ran.events = read_events(&events);
        let _ = std::fs::remove_file(events);
        ran
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            events: Vec::new(),
        }
    }
}

/// The events in a file of JSON lines; none where there is no file. A torn last line (the process was killed) is left out.
pub fn read_events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl Ran {
    /// What `command` does.
    pub fn of_command(mut command: Command) -> Self {
        Ran::from(command.output().expect("the command starts"))
    }

    /// Fails with everything that was printed unless the exit code is `code`.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// The events of one kind.
    pub fn of(&self, event: &str) -> Vec<&Value> {
        self.events.iter().filter(|value| value["event"] == event).collect()
    }

    /// How many actions ran, by step.
    pub fn executed(&self) -> BTreeMap<String, usize> {
        count(self.of("action_finished").into_iter().map(|event| text(event, "step")))
    }

    /// The labels of the actions that ran.
    pub fn executed_labels(&self) -> Vec<String> {
        self.of("action_finished").into_iter().map(|event| text(event, "label")).collect()
    }

    /// The events of rows that were computed, without those for the sake of other rows of the same action.
    fn own_rows(&self) -> Vec<&Value> {
        self.of("row_done").into_iter().filter(|event| event["nested"] != true).collect()
    }

    /// The rows that were computed, as `step item`, sorted.
    pub fn rows(&self) -> Vec<String> {
        let mut rows: Vec<String> = self
            .own_rows()
            .into_iter()
            .map(|event| format!("{} {}", text(event, "step"), text(event, "item")))
            .collect();
        rows.sort();
        rows
    }

    /// The items of one step whose rows were computed, sorted.
    pub fn items(&self, step: &str) -> Vec<String> {
        self.rows().iter().filter_map(|row| row.strip_prefix(&format!("{step} "))).map(str::to_string).collect()
    }

    /// What it printed on stdout, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// Fails unless no action ran and no row was computed.
    pub fn expect_nothing(self) -> Self {
        assert_eq!(self.executed(), BTreeMap::new());
        assert_eq!(self.rows(), Vec::<String>::new());
        assert!(self.of("action_stale").is_empty());
        self
    }

    /// How many rows were computed, by step.
    pub fn row_counts(&self) -> BTreeMap<String, usize> {
        count(self.own_rows().into_iter().map(|event| text(event, "step")))
    }
}

fn text(event: &Value, field: &str) -> String {
    event[field].as_str().unwrap_or_default().to_string()
}

fn count(names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

/// Counts by step, for comparing with what ran.
pub fn steps(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(step, count)| (step.to_string(), *count)).collect()
}
