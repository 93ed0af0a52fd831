//! The first step: which further files a benchmark's own files name.

use ragstage_cache::key::walk_texts;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::adapter::{RECORDS, ReadFiles};
use super::command::BenchmarkProgram;
use super::listing::SourceFile;
use super::spec::BenchmarkSpec;
use crate::artifact::to_json;
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key};
use crate::error::{DecodeError, StageError};
use crate::step::Step;

/// The files below the benchmark's root that hold its documents: relative paths, sorted, as a JSON list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceList {
    /// The paths, segments joined by `/`.
    pub paths: Vec<String>,
}

impl Artifact for SourceList {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(to_json(self)?.into_bytes())
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// Digest and size of the document file at a path below the benchmark's root, `None` where there is no such file, or a
/// fragment that says why it cannot be read.
pub type FindDocument<'a> = dyn Fn(&str) -> Result<Option<(Digest, u64)>, String> + 'a;

/// Finds the documents that a benchmark gives as files, so that they can be digested before it is read. Its output is
/// `sources`, a [`SourceList`].
///
/// Where a program prints the benchmark it is run here, and what it printed is the output `records`. That is read at once with
/// every fault but missing documents: else it would be kept, and the program not be run again once it is mended.
///
/// Rows that are malformed name nothing here; [`super::PrepareBenchmark`] reports them, together with all else that is wrong.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The benchmark.
    pub spec: BenchmarkSpec,
    /// Its listing files that are there.
    pub files: Vec<SourceFile>,
    /// What [`BenchmarkSpec::below_root`] gave.
    pub below: Vec<String>,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Sources {
    /// The files that name others.
    fn naming(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| self.spec.adapter.adapter().names_documents(&file.role))
    }
}

/// Holds the naming files alone: a corrected gold answer finds no other documents.
impl Walk for Sources {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, self.step(), self.salt);
        self.spec.adapter.walk(v);
        if let Some(program) = self.spec.adapter.adapter().program() {
            program.walk(v);
        }
        walk_files(v, self.naming());
        if self.spec.adapter.adapter().looks_into().is_some() {
            walk_texts(v, "below", &self.below);
        }
        v.end();
    }
}

/// Visits role and digest of source files, never a path.
pub(super) fn walk_files<'a>(v: &mut dyn KeyVisitor, files: impl IntoIterator<Item = &'a SourceFile>) {
    let files: Vec<(&str, &Digest)> = files.into_iter().map(|file| (file.role.as_str(), &file.digest)).collect();
    v.begin_list("files", files.len());
    for (role, digest) in files {
        v.begin_record("", "file");
        v.text("role", role);
        v.digest("digest", digest);
        v.end();
    }
    v.end();
}

impl Action for Sources {
    fn step(&self) -> Step {
        Step::Sources
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        if let Some(program) = self.spec.adapter.adapter().program() {
            return self.run_program(program, context);
        }
        let mut files = ReadFiles::default();
        for file in self.naming() {
            // One that went away names nothing; reading the benchmark tells.
            if let Some(bytes) = context.source(&file.digest)? {
                files.files.push((file, bytes));
            }
        }
        Ok(Produced { outputs: vec![self.list(&files)?], ..Produced::default() })
    }
}

impl Sources {
    /// The documents that `files` name, as an output.
    fn list(&self, files: &ReadFiles<'_>) -> Result<Output, StageError> {
        let mut paths = self.spec.adapter.adapter().named(files, &self.below);
        paths.sort();
        paths.dedup();
        let rows = paths.len();
        let bytes = SourceList { paths }.encode().map_err(|error| StageError::encode(self.step(), error))?;
        Ok(Output::value("sources", bytes, rows))
    }

    fn run_program(&self, program: &BenchmarkProgram, context: &dyn Context) -> Result<Produced, StageError> {
        let missing = self.spec.missing(&self.files);
        if !missing.is_empty() {
            return Err(StageError::input(self.step(), missing));
        }
        let bytes = program.run(context, &self.naming().collect::<Vec<_>>())?;
        let file = program.file(RECORDS, Digest::of(&bytes), bytes.len() as u64);
        let mut files = ReadFiles { files: vec![(&file, bytes)], ..ReadFiles::default() };
        let present = |_: &str| Ok(Some((Digest::of(b""), 0)));
        let read = self.spec.adapter.adapter().read(&files, &present);
        let benchmark = read.map_err(|errors| StageError::input(self.step(), errors))?;
        let list = self.list(&files)?;
        let bytes = files.files.pop().map(|(_, bytes)| bytes).unwrap_or_default();
        let rows = benchmark.documents.rows.len() + benchmark.queries.rows.len();
        Ok(Produced { outputs: vec![list, Output::value("records", bytes, rows)], ..Produced::default() })
    }
}
