//! Which program scores, and what its scores depend on.

use std::path::PathBuf;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::protocol::PROGRAM_VERSION;
use crate::process::Launch;
use crate::score::Reads;

/// Version of what the shim makes of the values that a Python function returns, in the key of every reply through it.
const SHIM_VERSION: u64 = 1;
/// The shim: it runs a Python file as the protocol wants it.
const SHIM: &str = include_str!("shim.py");

/// What runs a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramRunner {
    /// A command of the user's that speaks the protocol, with its words as they are in the key: none is a path of this
    /// machine.
    Command(Vec<String>),
    /// Our shim, which runs the first of the files.
    Python,
}

impl ProgramRunner {
    /// The command that runs `file`, relative to where it is started, through the shim in `interpreter`.
    pub fn python(interpreter: &str, file: &str) -> Vec<String> {
        [interpreter, "-c", SHIM, file].map(str::to_string).to_vec()
    }
}

/// A program of a user's that scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSpec {
    /// What its columns are called by; in no key.
    pub name: String,
    /// One line on what it measures, for reports.
    pub description: String,
    /// Whether a higher value is a better one, for reports.
    pub higher_is_better: bool,
    /// What its owner calls this state of it.
    pub version: String,
    /// What runs it.
    pub runner: ProgramRunner,
    /// Files that its scores depend on, by name, with their digests.
    pub files: Vec<(String, Digest)>,
    /// Where these files are; in no key.
    pub paths: Vec<PathBuf>,
    /// What it is shown beside the gold.
    pub reads: Reads,
    /// The names of its scores, each a column of its own; empty where it gives one score without a name.
    pub scores: Vec<String>,
    /// How many cases it takes at once at most; one at a time where absent. In no key, for a score depends on its case alone.
    pub batch: Option<u32>,
    /// How it is started; in no key.
    pub launch: Launch,
}

impl Walk for ProgramSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("program", "program");
        v.uint("protocol_version", PROGRAM_VERSION);
        v.text("version", &self.version);
        match &self.runner {
            ProgramRunner::Command(words) => texts(v, "command", words.iter()),
            ProgramRunner::Python => v.uint("shim_version", SHIM_VERSION),
        }
        v.begin_list("files", self.files.len());
        for (position, (name, digest)) in self.files.iter().enumerate() {
            v.begin_record("", "file");
            // The shim runs its file whatever it is called.
            if position > 0 || self.runner != ProgramRunner::Python {
                v.text("name", name);
            }
            v.digest("digest", digest);
            v.end();
        }
        v.end();
        let reads = [("answer", self.reads.answer), ("results", self.reads.results), ("question", self.reads.question)];
        texts(v, "reads", reads.iter().filter(|(_, read)| *read).map(|(name, _)| name));
        texts(v, "scores", self.scores.iter());
        v.end();
    }
}

fn texts<'a, T: AsRef<str> + 'a + ?Sized>(
    v: &mut dyn KeyVisitor,
    name: &str,
    items: impl Iterator<Item = &'a T> + Clone,
) {
    v.begin_list(name, items.clone().count());
    items.for_each(|item| v.text("", item.as_ref()));
    v.end();
}
