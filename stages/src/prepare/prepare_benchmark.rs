//! The second step: a dataset's own files become documents, queries, gold and units.

use std::collections::HashMap;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::adapter::ReadFiles;
use super::benchmark::Benchmark;
use super::listing::SourceFile;
use super::shared_documents::clusters;
use super::sources::walk_files;
use super::spec::BenchmarkSpec;
use crate::artifact::{BenchmarkInfo, Unit, Units};
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
    /// What [`super::Sources`] has of a program that prints the benchmark, as [`BenchmarkSpec::records`] names it; `None` where
    /// the benchmark is read from files.
    pub records: Option<SourceFile>,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Walk for PrepareBenchmark {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, self.step(), self.salt);
        self.spec.adapter.walk(v);
        self.spec.selection.walk(v);
        match &self.records {
            // They are all that is read: a program that prints the same was changed for nothing.
            Some(records) => v.digest("records", &records.digest),
            None => walk_files(v, &self.files),
        }
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
        // First, since files' names are made of them.
        self.spec.adapter.adapter().check().map_err(|errors| StageError::input(self.step(), errors))?;
        let missing = self.spec.missing(&self.files);
        if !missing.is_empty() {
            return Err(StageError::input(self.step(), missing));
        }
        let sources = self.read(context)?;
        let benchmark = self.adapt(&sources).map_err(|errors| StageError::input(self.step(), errors))?;
        self.encode(benchmark).map_err(|error| StageError::encode(self.step(), error))
    }
}

impl PrepareBenchmark {
    fn read(&self, context: &dyn Context) -> Result<ReadFiles<'_>, StageError> {
        if let Some(records) = &self.records {
            let files = vec![(records, context.blob(&records.digest)?)];
            return Ok(ReadFiles { files, ..ReadFiles::default() });
        }
        let documents = self.documents.iter().map(|document| document.relative.as_str()).collect();
        let mut sources = ReadFiles { documents, ..ReadFiles::default() };
        let mut errors = Vec::new();
        for file in &self.files {
            match context.source(&file.digest)? {
                Some(bytes) => sources.files.push((file, bytes)),
                None => errors.push(
                    InputError::new(Place::file(&file.path), "the file changed or went away while it was being read")
                        .hint("run again"),
                ),
            }
        }
        if errors.is_empty() { Ok(sources) } else { Err(StageError::input(self.step(), errors)) }
    }

    fn adapt(&self, sources: &ReadFiles<'_>) -> Result<Benchmark, Vec<InputError>> {
        let documents: HashMap<&str, &DocumentFile> =
            self.documents.iter().map(|file| (file.relative.as_str(), file)).collect();
        let find = |path: &str| match documents.get(path) {
            Some(DocumentFile { digest: Some(digest), size, .. }) => Ok(Some((*digest, *size))),
            Some(DocumentFile { fault: Some(fault), .. }) => Err(fault.clone()),
            _ => Ok(None),
        };
        let adapter = self.spec.adapter.adapter();
        let benchmark = adapter.read(sources, &find)?;
        // Of several files none is the cases' own: then the folder is named.
        let root = adapter.root();
        let cases = sources.find(adapter.cases_role()).map_or(root.as_path(), |source| source.path);
        self.spec.selection.apply(benchmark, cases)
    }

    fn encode(&self, benchmark: Benchmark) -> Result<Produced, DecodeError> {
        let Benchmark { info, documents, queries, golds, units, skipped, default_evaluators } = benchmark;
        let units = units
            .into_iter()
            .map(|rows| Unit::over(rows, &documents, &queries, &golds, &skipped))
            .collect::<Result<Vec<Unit>, _>>()?;
        let clusters = clusters(&documents, &golds);
        let (rows, cases) = (documents.rows.len(), queries.rows.len());
        let (documents, queries, golds) = (documents.encode()?, queries.encode()?, golds.encode()?);
        let digest = Digest::of_parts("ragstage.dataset", [&documents, &queries, &golds].map(Vec::as_slice));
        let benchmark = BenchmarkInfo { digest: Some(digest), ..info };
        let units = Units { benchmark, units, clusters, default_evaluators };
        let outputs = vec![
            Output::value("documents", documents, rows),
            Output::value("queries", queries, cases),
            Output::value("gold", golds, cases),
            Output::value("units", units.encode()?, units.units.len()),
        ];
        Ok(Produced { outputs, ..Produced::default() })
    }
}
