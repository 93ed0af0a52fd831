//! The files that a benchmark is read from.

use std::path::{Path, PathBuf};

use ragstage_cache::Digest;

use super::beir::plain_id;
use super::spec::{AdapterSpec, BenchmarkSpec};
use crate::error::{InputError, Place};

/// The role of the `jsonl` adapter's documents file.
pub(super) const DOCUMENTS: &str = "documents";
/// The role of the `jsonl` adapter's cases file.
pub(super) const CASES: &str = "cases";
/// The role of the `jsonl` adapter's units file.
pub(super) const UNITS: &str = "units";
/// The role of a BEIR folder's corpus.
pub(super) const CORPUS: &str = "corpus";
/// The role of a BEIR folder's queries.
pub(super) const QUERIES: &str = "queries";
/// The role of a BEIR folder's judgements.
pub(super) const QRELS: &str = "qrels";

/// A file to digest before anything is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingFile {
    /// What the adapter reads it as, e.g. `documents`.
    pub role: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// Whether the benchmark cannot be read without it.
    pub required: bool,
}

/// A listing file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The role of the [`ListingFile`].
    pub role: String,
    /// Shown in errors; part of no key.
    pub path: PathBuf,
    /// Digest of its bytes.
    pub digest: Digest,
    /// Size in bytes.
    pub size: u64,
}

impl BenchmarkSpec {
    /// The files that the adapter reads, in its order. Of a BEIR folder's `corpus.jsonl` and `corpus.jsonl.gz` it is the one
    /// that exists, the first where both do.
    pub fn listing(&self) -> Vec<ListingFile> {
        let file = |role, path: PathBuf| ListingFile { role, path, required: true };
        match &self.adapter {
            AdapterSpec::Jsonl(spec) => {
                let mut files = vec![file(DOCUMENTS, spec.documents.clone()), file(CASES, spec.cases.clone())];
                files.extend(spec.units.clone().map(|units| file(UNITS, units)));
                files
            }
            AdapterSpec::Beir(spec) => {
                let plain = spec.path.join("corpus.jsonl");
                let packed = spec.path.join("corpus.jsonl.gz");
                let corpus = if !plain.exists() && packed.exists() { packed } else { plain };
                let qrels = spec.path.join("qrels").join(format!("{}.tsv", plain_id(&spec.split)));
                vec![file(CORPUS, corpus), file(QUERIES, spec.path.join("queries.jsonl")), file(QRELS, qrels)]
            }
        }
    }

    /// The folder that documents given by path are relative to.
    pub fn root(&self) -> PathBuf {
        match &self.adapter {
            AdapterSpec::Jsonl(spec) => match &spec.root {
                Some(root) => root.clone(),
                None => spec.documents.parent().unwrap_or(Path::new("")).to_path_buf(),
            },
            AdapterSpec::Beir(spec) => spec.path.clone(),
        }
    }

    /// An error for every required file that is not among `files`.
    pub(super) fn missing(&self, files: &[SourceFile]) -> Vec<InputError> {
        let hint = match &self.adapter {
            AdapterSpec::Jsonl(_) => "check the path in the evaluation file",
            AdapterSpec::Beir(_) => {
                "a BEIR folder holds corpus.jsonl (or corpus.jsonl.gz), queries.jsonl and qrels/<split>.tsv"
            }
        };
        self.listing()
            .into_iter()
            .filter(|listed| listed.required && !files.iter().any(|file| file.role == listed.role))
            .map(|listed| {
                let message = format!("the benchmark's {} file is missing", listed.role);
                InputError::new(Place::file(listed.path), message).hint(hint)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::{BeirSpec, Selection};
    use super::*;

    #[test]
    fn a_beir_folder_has_three_files() {
        let spec =
            BeirSpec { path: "reef".into(), dataset: "minireef".into(), split: " Test ".into(), dataset_url: None };
        let spec = BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() };
        let paths: Vec<PathBuf> = spec.listing().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["reef/corpus.jsonl", "reef/queries.jsonl", "reef/qrels/test.tsv"].map(PathBuf::from));
        let missing = spec.missing(&[]);
        assert_eq!(missing.len(), 3);
        assert_eq!(missing[2].to_string(), "reef/qrels/test.tsv: the benchmark's qrels file is missing");
    }
}
