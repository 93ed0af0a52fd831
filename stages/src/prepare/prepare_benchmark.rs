//! The second step: a dataset's own files become documents, queries, gold and units.

use std::collections::HashMap;
use std::path::Path;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::beir::{BeirFiles, check_ids, read_beir};
use super::benchmark::Benchmark;
use super::jsonl::{JsonlFiles, read_jsonl};
use super::lines::SourceBytes;
use super::listing::{CASES, CORPUS, DOCUMENTS, QRELS, QUERIES, SourceFile, UNITS};
use super::sources::walk_files;
use super::spec::{AdapterSpec, BenchmarkSpec};
use crate::artifact::{Unit, Units};
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key};
use crate::error::{DecodeError, InputError, Place, StageError};
use crate::step::Step;

/// A document that the benchmark gives as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFile {
    /// Path below the benchmark's root, as [`super::SourceList`] has it.
    pub relative: String,
    /// Digest of its bytes; `None` where it is missing on disk or cannot be read.
    pub digest: Option<Digest>,
    /// Size in bytes.
    pub size: u64,
    /// Why it cannot be read, as a fragment. No part of the key: a benchmark with such a file is refused, and no output kept.
    pub fault: Option<String>,
}

/// Reads a benchmark and selects its cases. Its outputs are `documents`, `queries`, `gold` and `units`, each a function of
/// the source files' bytes, the adapter's options and the selection.
#[derive(Debug, Clone)]
pub struct PrepareBenchmark {
    /// The benchmark and its selection.
    pub spec: BenchmarkSpec,
    /// Its listing files that are there.
    pub files: Vec<SourceFile>,
    /// The files that [`super::Sources`] found.
    pub documents: Vec<DocumentFile>,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Walk for PrepareBenchmark {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, self.step(), self.salt);
        self.spec.adapter.walk(v);
        self.spec.selection.walk(v);
        walk_files(v, &self.files);
        v.begin_list("documents", self.documents.len());
        for document in &self.documents {
            v.begin_record("", "document");
            v.text("relative", &document.relative);
            match &document.digest {
                Some(digest) => v.digest("digest", digest),
                None => v.null("digest"),
            }
            v.end();
        }
        v.end();
        v.end();
    }
}

impl Action for PrepareBenchmark {
    fn step(&self) -> Step {
        Step::Prepare
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        // First, since it is these that the files' names are made of.
        if let AdapterSpec::Beir(spec) = &self.spec.adapter {
            check_ids(spec).map_err(|errors| StageError::input(self.step(), errors))?;
        }
        let missing = self.spec.missing(&self.files);
        if !missing.is_empty() {
            return Err(StageError::input(self.step(), missing));
        }
        let sources = self.read(context)?;
        let benchmark = self.adapt(&sources).map_err(|errors| StageError::input(self.step(), errors))?;
        self.encode(benchmark).map_err(|error| StageError::encode(self.step(), error))
    }
}

/// The bytes of the listing files, in the order of `files`.
type ReadFiles<'a> = Vec<(&'a SourceFile, Vec<u8>)>;

impl PrepareBenchmark {
    fn read(&self, context: &dyn Context) -> Result<ReadFiles<'_>, StageError> {
        let mut sources = Vec::new();
        let mut errors = Vec::new();
        for file in &self.files {
            match context.source(&file.digest)? {
                Some(bytes) => sources.push((file, bytes)),
                None => errors.push(
                    InputError::new(Place::file(&file.path), "the file changed or went away while it was being read")
                        .hint("run again"),
                ),
            }
        }
        if errors.is_empty() { Ok(sources) } else { Err(StageError::input(self.step(), errors)) }
    }

    fn adapt(&self, sources: &ReadFiles<'_>) -> Result<Benchmark, Vec<InputError>> {
        let find = |role: &str| {
            let (file, bytes) = sources.iter().find(|(file, _)| file.role == role)?;
            Some(SourceBytes { path: &file.path, bytes })
        };
        // A required file was found above; without it the adapter sees an empty one and says so.
        let needed = |role: &str| find(role).unwrap_or(SourceBytes { path: Path::new(""), bytes: &[] });
        let (benchmark, cases) = match &self.spec.adapter {
            AdapterSpec::Jsonl(spec) => {
                let files = JsonlFiles { documents: needed(DOCUMENTS), cases: needed(CASES), units: find(UNITS) };
                let documents: HashMap<&str, &DocumentFile> =
                    self.documents.iter().map(|file| (file.relative.as_str(), file)).collect();
                let find = |path: &str| match documents.get(path) {
                    Some(DocumentFile { digest: Some(digest), size, .. }) => Ok(Some((*digest, *size))),
                    Some(DocumentFile { fault: Some(fault), .. }) => Err(fault.clone()),
                    _ => Ok(None),
                };
                (read_jsonl(spec, files, &find)?, files.cases.path)
            }
            AdapterSpec::Beir(spec) => {
                let files = BeirFiles { corpus: needed(CORPUS), queries: needed(QUERIES), qrels: needed(QRELS) };
                (read_beir(spec, files)?, files.queries.path)
            }
        };
        self.spec.selection.apply(benchmark, cases)
    }

    fn encode(&self, benchmark: Benchmark) -> Result<Produced, DecodeError> {
        let Benchmark { info, documents, queries, golds, units, default_evaluators } = benchmark;
        let units = units
            .into_iter()
            .map(|rows| Unit::over(rows, &documents, &queries, &golds))
            .collect::<Result<Vec<Unit>, _>>()?;
        let units = Units { benchmark: info, units, default_evaluators };
        let outputs = vec![
            Output::value("documents", documents.encode()?, documents.rows.len()),
            Output::value("queries", queries.encode()?, queries.rows.len()),
            Output::value("gold", golds.encode()?, golds.rows.len()),
            Output::value("units", units.encode()?, units.units.len()),
        ];
        Ok(Produced { outputs, ..Produced::default() })
    }
}
