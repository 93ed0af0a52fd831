//! The first step: which further files a benchmark's own files name.

use ragstage_cache::key::walk_texts;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::adapter::ReadFiles;
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
        walk_files(v, self.naming());
        if self.spec.adapter.adapter().looks_into_root() {
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
        let mut files = ReadFiles::default();
        for file in self.naming() {
            // One that went away names nothing; reading the benchmark tells.
            if let Some(bytes) = context.source(&file.digest)? {
                files.files.push((file, bytes));
            }
        }
        let mut paths = self.spec.adapter.adapter().named(&files, &self.below);
        paths.sort();
        paths.dedup();
        let rows = paths.len();
        let bytes = SourceList { paths }.encode().map_err(|error| StageError::encode(self.step(), error))?;
        Ok(Produced { outputs: vec![Output::value("sources", bytes, rows)], ..Produced::default() })
    }
}
