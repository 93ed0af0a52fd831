//! What the benchmarks of public datasets have in common.

use std::path::{Path, PathBuf};

use ragstage_cache::Digest;
use serde_json::Value;

use super::about::About;
use super::benchmark::source_key;
use super::fields::number_text;
use super::safe_id::safe_id;
use super::scope::Scope;
use crate::artifact::{BenchmarkInfo, Document, Json};
use crate::python::strip;

/// The task type of datasets that ask questions about documents.
const TASK_TYPE: &str = "rag_qa";

/// What the benchmark says of itself.
pub(super) fn info(about: &About, split: &str, scope: Scope) -> BenchmarkInfo {
    let said = |text: &str| (!text.is_empty()).then(|| text.to_string());
    BenchmarkInfo {
        name: about.name.to_string(),
        version: about.version.to_string(),
        split: split.to_string(),
        task_type: TASK_TYPE.to_string(),
        build_scope: scope.build_scope().to_string(),
        homepage: said(about.homepage),
        license: said(about.license),
        citation: said(about.citation),
        digest: None,
        metadata: Json::new(),
    }
}

/// The evaluators of an evaluation that names none.
pub(super) fn evaluators(about: &About) -> Vec<String> {
    about.evaluators.iter().map(|evaluator| evaluator.to_string()).collect()
}

/// The id of a document by which a dataset calls it `id`: that, unless it could not be part of a key or a file's name.
pub(super) fn document_id(id: &str) -> String {
    const LONGEST: usize = 200;
    if matches!(id, "" | "." | "..") {
        return safe_id(&format!("document {id}"));
    }
    let plain = !id.contains(['/', '\\']) && !id.chars().any(char::is_control);
    if plain && id.len() <= LONGEST { id.to_string() } else { safe_id(id) }
}

/// A document of `text` in Markdown.
pub(super) fn markdown(info: &BenchmarkInfo, id: &str, text: String, metadata: Json) -> Document {
    let name = format!("{id}_doc.md");
    let data = text.into_bytes();
    Document {
        source_key: source_key(&info.name, &info.split, id, &name),
        document_id: id.to_string(),
        name,
        media_type: "text/markdown".to_string(),
        digest: Some(Digest::of(&data)),
        size: Some(data.len() as u64),
        data: Some(data),
        source_uri: None,
        metadata,
    }
}

/// A gold answer as text. Numbers and truth values stand for theirs, the latter as Python writes them, which the datasets were
/// made with; lists, objects, null and numbers that were rounded have none.
pub(super) fn gold_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(strip(text).to_string()),
        Value::Number(number) => number_text(number),
        Value::Bool(true) => Some("True".to_string()),
        Value::Bool(false) => Some("False".to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first of `places` below the folder `path` where there is a file; the first of all where there is none, and `path`
/// itself where it is no folder.
pub(super) fn first_file(path: &Path, places: &[&str]) -> PathBuf {
    if !path.is_dir() {
        return path.to_path_buf();
    }
    let mut paths = places.iter().map(|place| path.join(place));
    let first = paths.next().unwrap_or_else(|| path.to_path_buf());
    if first.exists() { first } else { paths.find(|path| path.exists()).unwrap_or(first) }
}

/// An object of `entries`, without those that are null.
pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Json {
    entries.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.to_string(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_file_names_stay() {
        for id in ["conv-26", "130 syllabus_2 S 2023", "Syllabus SPP 697 PM 2023 (clean)", "1909.00694", "课程"] {
            assert_eq!(document_id(id), id);
        }
        for id in ["a/b", "..", "", "a\nb", "\\", &"x".repeat(201)] {
            assert_ne!(document_id(id), id);
            assert!(!document_id(id).contains(['/', '\\', '\n']));
        }
    }
}
