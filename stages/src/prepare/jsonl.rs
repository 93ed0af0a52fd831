//! The `jsonl` adapter: documents, cases and units as JSON lines (spec/heta 4.1).
//!
//! What the reference system gets wrong is mended (spec/heta 9, bugs 22 and 24): null is absence, a list must be a list, a
//! row ends at a line end only, a byte order mark is accepted, and no name or path leads out of the benchmark's folder.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ragstage_cache::Digest;
use serde_json::Value;

use super::benchmark::{Benchmark, append_in_line_order, nothing, source_key};
use super::document_path::document_path;
use super::fields::{Fields, describe};
use super::ids::Ids;
use super::lines::SourceBytes;
use super::rows::rows;
use super::spec::JsonlSpec;
use super::units_file::read_units;
use super::whitespace::strip;
use crate::artifact::{BenchmarkInfo, Document, Documents, Evidence, Gold, Golds, Queries, Query, UnitRows};
use crate::error::{InputError, Place};

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

/// Digest and size of the document file at a path below the benchmark's root, `None` where there is no such file.
pub type FindDocument<'a> = dyn Fn(&str) -> Option<(Digest, u64)> + 'a;

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
        // Ids cannot be resolved against a list with holes in it.
        Some(source) if errors.is_empty() => read_units(source, &document_ids, &case_ids, &queries, &mut errors),
        Some(_) => Vec::new(),
        None => vec![Benchmark::whole(Default::default())],
    };
    if !errors.is_empty() {
        return Err(errors);
    }
    let one = matches!(units.as_slice(), [UnitRows { document_rows: None, case_rows: None, .. }]);
    info.build_scope = if one { "corpus" } else { "case" }.to_string();
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
    BenchmarkInfo {
        name: text("name", &spec.name),
        version: text("version", &spec.version),
        split: text("split", &spec.split),
        task_type: text("task_type", &spec.task_type),
        build_scope: String::new(),
        homepage: spec.homepage.as_deref().map(|value| text("homepage", value)),
        license: spec.license.as_deref().map(|value| text("license", value)),
        citation: spec.citation.as_deref().map(|value| text("citation", value)),
        metadata: spec.metadata.clone(),
    }
}

fn read_documents(
    info: &BenchmarkInfo,
    source: SourceBytes<'_>,
    find: &FindDocument<'_>,
    errors: &mut Vec<InputError>,
) -> (Documents, Ids) {
    let mut found = Vec::new();
    let mut ids = Ids::new("document_id");
    let mut paths = HashMap::new();
    let mut documents = Vec::new();
    for row in rows(source, &mut found) {
        let fields = Fields::of(source.path, &row);
        let document_id = fields.text("document_id", &mut found);
        if let Some(document_id) = &document_id {
            ids.take(document_id, documents.len(), fields.place(), &mut found);
        }
        let name = fields.text("name", &mut found);
        if let Some(name) = &name {
            check_file_name(name, &fields, &mut found);
        }
        let media_type = fields.text("media_type", &mut found);
        let payload = payload(&fields, &mut paths, find, &mut found);
        let metadata = fields.object("metadata", &mut found);
        if let (Some(document_id), Some(name), Some(media_type), Some(payload)) =
            (document_id, name, media_type, payload)
        {
            let source_key = source_key(&info.name, &info.split, &document_id, &name);
            let Payload { digest, size, data, source_uri } = payload;
            documents.push(Document {
                document_id,
                name,
                media_type,
                digest,
                size,
                data,
                source_uri,
                source_key,
                metadata,
            });
        }
    }
    if documents.is_empty() && found.is_empty() {
        found.push(nothing(Place::file(source.path), "document", "write one document per line"));
    }
    append_in_line_order(errors, found);
    (Documents { rows: documents }, ids)
}

/// A document is stored under its name, so the name must be that of a file.
fn check_file_name(name: &str, fields: &Fields<'_>, errors: &mut Vec<InputError>) {
    if name.contains(['/', '\\']) || name == "." || name == ".." {
        let error = fields.error(format!("`name` is {name:?}; expected a file name"));
        errors.push(error.hint("leave the folders out of the name"));
    }
}

/// Where a document's bytes are.
#[derive(Default)]
struct Payload {
    digest: Option<Digest>,
    size: Option<u64>,
    data: Option<Vec<u8>>,
    source_uri: Option<String>,
}

impl Payload {
    fn inline(data: Vec<u8>) -> Self {
        Payload { digest: Some(Digest::of(&data)), size: Some(data.len() as u64), data: Some(data), source_uri: None }
    }
}

/// The keys that say where a document's bytes are; a row has exactly one of them.
const PAYLOADS: [&str; 4] = ["text", "data_base64", "path", "source_uri"];

fn payload(
    fields: &Fields<'_>,
    paths: &mut HashMap<String, u64>,
    find: &FindDocument<'_>,
    errors: &mut Vec<InputError>,
) -> Option<Payload> {
    let given: Vec<&str> = PAYLOADS.into_iter().filter(|key| fields.value(key).is_some()).collect();
    match given.as_slice() {
        ["text"] => fields.verbatim("text", errors).map(|text| Payload::inline(text.into_bytes())),
        ["data_base64"] => {
            let text = fields.verbatim("data_base64", errors)?;
            match STANDARD.decode(&text) {
                Ok(data) => Some(Payload::inline(data)),
                Err(error) => {
                    let message = format!("`data_base64` is no base64: {}", fault(&error));
                    errors.push(fields.error(message).hint("use the standard alphabet with `=` padding, no blanks"));
                    None
                }
            }
        }
        ["path"] => file(fields, paths, find, errors),
        ["source_uri"] => {
            let source_uri = fields.optional_text("source_uri", errors)?;
            Some(Payload { source_uri: Some(source_uri), ..Payload::default() })
        }
        [] => {
            let error = fields.error("no content; expected one of `text`, `data_base64`, `path`, `source_uri`");
            errors.push(if fields.is_null("text") {
                error.hint("`text` is null; write \"\" for an empty document")
            } else {
                error
            });
            None
        }
        given => {
            let given: Vec<String> = given.iter().map(|key| format!("`{key}`")).collect();
            let error = fields.error(format!("{} are both given; expected one of them", given.join(" and ")));
            errors.push(error.hint("keep the one that holds the document"));
            None
        }
    }
}

fn fault(error: &base64::DecodeError) -> String {
    use base64::DecodeError::{InvalidByte, InvalidLastSymbol, InvalidLength, InvalidPadding};
    match error {
        InvalidByte(at, byte) => format!("unexpected {:?} at offset {at}", char::from(*byte)),
        InvalidLastSymbol(at, byte) => format!("the last symbol {:?} at offset {at} has stray bits", char::from(*byte)),
        InvalidLength(length) => format!("{length} symbols cannot be decoded"),
        InvalidPadding => "the padding is wrong or missing".to_string(),
    }
}

fn file(
    fields: &Fields<'_>,
    paths: &mut HashMap<String, u64>,
    find: &FindDocument<'_>,
    errors: &mut Vec<InputError>,
) -> Option<Payload> {
    let written = fields.verbatim("path", errors)?;
    let path = match document_path(&written) {
        Ok(path) => path,
        Err(why) => {
            let error = fields.error(format!("`path` {written:?} {why}"));
            errors.push(error.hint("paths are relative to `root`, by default the folder of the documents file"));
            return None;
        }
    };
    let line = fields.place().line.unwrap_or_default();
    if let Some(other) = paths.insert(path.clone(), line) {
        let error = fields.error(format!("`path` {path:?} is the document of line {other} too"));
        errors.push(error.hint("give each file one row; units may share a document by its id"));
        return None;
    }
    let Some((digest, size)) = find(&path) else {
        let error = fields.error(format!("`path` {path:?} is missing on disk"));
        errors.push(error.hint("paths are relative to `root`, by default the folder of the documents file"));
        return None;
    };
    Some(Payload { digest: Some(digest), size: Some(size), data: None, source_uri: None })
}

fn read_cases(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> (Queries, Golds, Ids) {
    let mut found = Vec::new();
    let mut ids = Ids::new("case_id");
    let mut queries = Vec::new();
    let mut golds = Vec::new();
    for row in rows(source, &mut found) {
        let fields = Fields::of(source.path, &row);
        let case_id = fields.text("case_id", &mut found);
        if let Some(case_id) = &case_id {
            ids.take(case_id, queries.len(), fields.place(), &mut found);
        }
        let text = fields.text("query", &mut found);
        let mut gold = match fields.nested("expected", &mut found) {
            Some(expected) => gold(&expected, &mut found),
            None => Gold::default(),
        };
        gold.labels = fields.object("labels", &mut found);
        gold.case_metadata = fields.object("metadata", &mut found);
        if let (Some(case_id), Some(text)) = (case_id, text) {
            gold.case_id.clone_from(&case_id);
            golds.push(gold);
            queries.push(Query { case_id, text, category: None });
        }
    }
    if queries.is_empty() && found.is_empty() {
        found.push(nothing(Place::file(source.path), "case", "write one case per line"));
    }
    append_in_line_order(errors, found);
    (Queries { rows: queries }, Golds { rows: golds }, ids)
}

fn gold(expected: &Fields<'_>, errors: &mut Vec<InputError>) -> Gold {
    let mut answers = Vec::new();
    for (name, item) in expected.list("answers", errors) {
        match item {
            // JSON's own words, where the reference system writes Python's `True`, `False` and `None` (bug 22).
            Value::Bool(value) => answers.push(value.to_string()),
            item => answers.extend(expected.item(&name, item, errors)),
        }
    }
    let mut evidence = Vec::new();
    for (name, item) in expected.list("evidence", errors) {
        if let Some(fields) = expected.as_fields(name.clone(), item, errors) {
            evidence.extend(piece(&name, &fields, errors));
        }
    }
    Gold {
        answers,
        evidence,
        value: expected.value("value").cloned().unwrap_or_default(),
        metadata: expected.object("metadata", errors),
        ..Gold::default()
    }
}

/// One piece of evidence.
fn piece(name: &str, fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Evidence> {
    let before = errors.len();
    let evidence = Evidence {
        reference_id: fields.optional_text("reference_id", errors),
        locator: fields.object("locator", errors),
        text: fields.optional_text("text", errors),
        metadata: fields.object("metadata", errors),
    };
    if errors.len() > before {
        return None;
    }
    if evidence.reference_id.is_none() && evidence.locator.is_empty() && evidence.text.is_none() {
        let error = fields.error(format!("`{name}` says nothing of where the evidence is"));
        errors.push(error.hint("give at least one of `reference_id`, `locator`, `text`"));
        return None;
    }
    if let Some(relevance) = evidence.metadata.get("relevance").filter(|value| !value.is_number() && !value.is_null()) {
        let found = describe(relevance);
        errors.push(fields.error(format!("`{name}.metadata.relevance` is {found}; expected a number")));
        return None;
    }
    Some(evidence)
}
