//! The `jsonl` adapter: documents, cases and units as JSON lines (spec/heta 4.1).
//!
//! What the reference system gets wrong is mended (spec/heta 9, bugs 22 and 24): null is absence, a list must be a list,
//! U+0085, U+2028 and U+2029 end no row, a byte order mark is accepted, and no name or path leads out of the benchmark's
//! folder.

use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;
use ragstage_cache::key::walk_json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adapter::{Adapter, ReadFiles};
use super::benchmark::Benchmark;
use super::cases_file::read_cases;
use super::document_path::document_path;
use super::documents_file::read_documents;
use super::lines::{LineEnds, SourceBytes};
use super::listing::ListingFile;
use super::rows::{Row, rows};
use super::sources::FindDocument;
use super::spec::split;
use super::units_file::read_units;
use crate::artifact::{BenchmarkInfo, Json, UnitRows};
use crate::error::{InputError, Place};
use crate::python::strip;

/// Options of the `jsonl` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonlSpec {
    /// The documents' file.
    pub documents: PathBuf,
    /// The cases' file.
    pub cases: PathBuf,
    /// The run units' file; without it there is one unit over everything.
    #[serde(default)]
    pub units: Option<PathBuf>,
    /// What `path` payloads are relative to; the folder of `documents` by default.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// The benchmark's name; the stem of the folder of `documents` by default is decided by the evaluation file's reader.
    pub name: String,
    /// The dataset's version.
    #[serde(default = "version")]
    pub version: String,
    /// The split.
    #[serde(default = "split")]
    pub split: String,
    /// Free text.
    #[serde(default = "task_type")]
    pub task_type: String,
    /// What a knowledge base is built for: `corpus`, `group` or `case`, as the benchmark's owner has it; what the units say
    /// by default.
    #[serde(default)]
    pub build_scope: Option<String>,
    /// Where it is from.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Its licence.
    #[serde(default)]
    pub license: Option<String>,
    /// How to cite it.
    #[serde(default)]
    pub citation: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub metadata: Json,
}

fn version() -> String {
    "1".to_string()
}

fn task_type() -> String {
    "rag_qa".to_string()
}

/// The files of a benchmark in JSON lines.
#[derive(Debug, Clone, Copy)]
pub struct JsonlFiles<'a> {
    /// One document per line.
    pub documents: SourceBytes<'a>,
    /// One case per line.
    pub cases: SourceBytes<'a>,
    /// One run unit per line; without it there is one unit over everything.
    pub units: Option<SourceBytes<'a>>,
}

/// The role of the documents' file.
const DOCUMENTS: &str = "documents";
/// The role of the cases' file.
const CASES: &str = "cases";
/// The role of the units' file.
const UNITS: &str = "units";

impl Adapter for JsonlSpec {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        self.name.clone()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("name", &self.name);
        v.text("dataset_version", &self.version);
        v.text("split", &self.split);
        v.text("task_type", &self.task_type);
        for (name, value) in [
            ("build_scope", &self.build_scope),
            ("homepage", &self.homepage),
            ("license", &self.license),
            ("citation", &self.citation),
        ] {
            if let Some(value) = value {
                v.text(name, value);
            }
        }
        walk_json(v, "metadata", &Value::Object(self.metadata.clone()));
    }

    fn listing(&self) -> Vec<ListingFile> {
        let mut files = vec![
            ListingFile::required(DOCUMENTS, self.documents.clone()),
            ListingFile::required(CASES, self.cases.clone()),
        ];
        files.extend(self.units.clone().map(|units| ListingFile::required(UNITS, units)));
        files
    }

    fn advice(&self) -> &'static str {
        "check the path in the evaluation file"
    }

    fn root(&self) -> PathBuf {
        match &self.root {
            Some(root) => root.clone(),
            None => self.documents.parent().unwrap_or(Path::new("")).to_path_buf(),
        }
    }

    fn names_documents(&self, role: &str) -> bool {
        role == DOCUMENTS
    }

    fn named(&self, files: &ReadFiles<'_>, _below: &[String]) -> Vec<String> {
        let rows =
            files.find(DOCUMENTS).map(|source| rows(source, LineEnds::Json, &mut Vec::new())).unwrap_or_default();
        let path = |row: Row| document_path(row.object.get("path")?.as_str()?).ok();
        rows.into_iter().filter_map(path).collect()
    }

    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let files =
            JsonlFiles { documents: files.needed(DOCUMENTS), cases: files.needed(CASES), units: files.find(UNITS) };
        read_jsonl(self, files, find)
    }

    fn cases_role(&self) -> &'static str {
        CASES
    }
}

/// The benchmark in `files`; `find` is asked for the documents that are given as a path.
///
/// # Errors
/// All that is missing or malformed in any of the files, with file and line.
pub fn read_jsonl(
    spec: &JsonlSpec,
    files: JsonlFiles<'_>,
    find: &FindDocument<'_>,
) -> Result<Benchmark, Vec<InputError>> {
    let mut errors = Vec::new();
    let mut info = info(spec, &Place::file(files.documents.path), &mut errors);
    let (documents, document_ids) = read_documents(&info, files.documents, find, &mut errors);
    let (queries, golds, case_ids) = read_cases(files.cases, &mut errors);
    let units = match files.units {
        Some(source) => read_units(source, &document_ids, &case_ids, &queries, &mut errors),
        None => vec![Benchmark::whole(Default::default())],
    };
    if !errors.is_empty() {
        return Err(errors);
    }
    if info.build_scope.is_empty() {
        let one = matches!(units.as_slice(), [UnitRows { document_rows: None, case_rows: None, .. }]);
        info.build_scope = if one { "corpus" } else { "case" }.to_string();
    }
    let default_evaluators = ["evidence_recall@5", "answer_contains"].map(String::from).to_vec();
    Ok(Benchmark { info, documents, queries, golds, units, default_evaluators, ..Benchmark::default() })
}

fn info(spec: &JsonlSpec, place: &Place, errors: &mut Vec<InputError>) -> BenchmarkInfo {
    let mut text = |field: &str, value: &str| {
        if strip(value).is_empty() {
            errors.push(InputError::new(place.clone(), format!("the benchmark's `{field}` is blank")));
        }
        strip(value).to_string()
    };
    let info = BenchmarkInfo {
        name: text("name", &spec.name),
        version: text("version", &spec.version),
        split: text("split", &spec.split),
        task_type: text("task_type", &spec.task_type),
        build_scope: spec.build_scope.as_deref().map(|value| text("build_scope", value)).unwrap_or_default(),
        homepage: spec.homepage.as_deref().map(|value| text("homepage", value)),
        license: spec.license.as_deref().map(|value| text("license", value)),
        citation: spec.citation.as_deref().map(|value| text("citation", value)),
        digest: None,
        metadata: spec.metadata.clone(),
    };
    if !["", "corpus", "group", "case"].contains(&info.build_scope.as_str()) {
        let message =
            format!("the benchmark's `build_scope` is {:?}; expected corpus, group or case", info.build_scope);
        errors.push(InputError::new(place.clone(), message));
    }
    info
}
