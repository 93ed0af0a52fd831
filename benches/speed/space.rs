//! A temporary folder in which the command runs, timed from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::process::high_water;

/// A folder with an evaluation and a store of its own.
pub struct Space {
    folder: tempfile::TempDir,
}

impl Space {
    /// A folder with `benchmark` and `evaluation`, the latter without its `benchmark` key.
    pub fn new(benchmark: &Benchmark, evaluation: &str) -> Self {
        let space = Space { folder: tempfile::tempdir().expect("a temporary folder") };
        space.write("documents.jsonl", &benchmark.documents);
        space.write("cases.jsonl", &benchmark.cases);
        let mut head = "benchmark:\n  adapter: jsonl\n  documents: documents.jsonl\n  cases: cases.jsonl\n".to_string();
        if !benchmark.units.is_empty() {
            space.write("units.jsonl", &benchmark.units);
            head += "  units: units.jsonl\n";
        }
        space.write("evaluation.yaml", &format!("name: speed\n{head}{evaluation}"));
        space
    }

    /// A folder with `evaluation` alone, the whole file.
    pub fn of_evaluation(evaluation: &str) -> Self {
        let space = Space { folder: tempfile::tempdir().expect("a temporary folder") };
        space.write("evaluation.yaml", evaluation);
        space
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("write");
    }

    /// The command with `arguments`, words separated by blanks.
    fn command(&self, program: &Path, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env_remove("RAGSTAGE_STORE").args(arguments.split_whitespace());
        command
    }

    /// Runs `ragstage` with `arguments` and gives the wall time of the whole process.
    pub fn ragstage(&self, arguments: &str) -> Duration {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_ragstage")), arguments);
        let start = Instant::now();
        let output = command.output().expect("the command starts");
        let elapsed = start.elapsed();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ragstage {arguments}: {}\n{stderr}", output.status);
        elapsed
    }

    /// The same, with the most memory that the process held, in MB (10^6 bytes); NaN where the system does not say.
    pub fn peak(&self, arguments: &str) -> (Duration, f64) {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_ragstage")), arguments);
        let start = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
        let (pid, mut peak) = (child.id().to_string(), f64::NAN);
        let status = loop {
            peak = high_water(&pid).unwrap_or(peak);
            match child.try_wait().expect("the command ends") {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let elapsed = start.elapsed();
        assert!(status.success(), "ragstage {arguments}: {status}");
        (elapsed, peak)
    }

    /// The files of the store's artifacts.
    pub fn artifacts(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(".ragstage/cas-v1")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the store").flatten() {
                let path = entry.path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// The same, with the milliseconds that the actions of `step` took, each.
    pub fn actions(&self, arguments: &str, step: &str) -> (Duration, Vec<f64>) {
        let events = self.path("events.jsonl");
        let elapsed = self.ragstage(&format!("{arguments} --events {}", events.display()));
        let text = std::fs::read_to_string(events).expect("events");
        let finished = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|event| event["event"] == "action_finished" && event["step"] == step)
            .filter_map(|event| event["elapsed_ms"].as_f64());
        (elapsed, finished.collect())
    }

    /// How many system calls name a file or a directory while `ragstage` runs with `arguments`; `None` without strace.
    pub fn file_calls(&self, arguments: &str) -> Option<u64> {
        let counts = self.path("strace.txt");
        let ragstage = env!("CARGO_BIN_EXE_ragstage");
        let arguments = format!("-f -c -e trace=%file,getdents64 -o {} {ragstage} {arguments}", counts.display());
        let output = self.command(Path::new("strace"), &arguments).output().ok()?;
        let text = std::fs::read_to_string(counts).ok().filter(|_| output.status.success())?;
        let total = text.lines().find(|line| line.trim_end().ends_with("total"))?;
        // `% time`, `seconds`, `usecs/call`, `calls`, and `errors` where there were any.
        total.split_whitespace().nth(3)?.parse().ok()
    }
}
