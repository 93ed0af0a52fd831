//! The `jsonl` adapter: documents, cases and units as JSON lines (spec/heta 4.1).
//!
//! What the reference system gets wrong is mended (spec/heta 9, bugs 22 and 24): null is absence, a list must be a list,
//! U+0085, U+2028 and U+2029 end no row, a byte order mark is accepted, and no name or path leads out of the benchmark's
//! folder.

use ragstage_cache::Digest;

use super::benchmark::Benchmark;
use super::cases_file::read_cases;
use super::documents_file::read_documents;
use super::lines::SourceBytes;
use super::spec::JsonlSpec;
use super::units_file::read_units;
use crate::artifact::{BenchmarkInfo, UnitRows};
use crate::error::{InputError, Place};
use crate::python::strip;

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

/// Digest and size of the document file at a path below the benchmark's root, `None` where there is no such file, or a
/// fragment that says why it cannot be read.
pub type FindDocument<'a> = dyn Fn(&str) -> Result<Option<(Digest, u64)>, String> + 'a;

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
    Ok(Benchmark { info, documents, queries, golds, units, default_evaluators })
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
        metadata: spec.metadata.clone(),
    };
    if !["", "corpus", "group", "case"].contains(&info.build_scope.as_str()) {
        let message =
            format!("the benchmark's `build_scope` is {:?}; expected corpus, group or case", info.build_scope);
        errors.push(InputError::new(place.clone(), message));
    }
    info
}
