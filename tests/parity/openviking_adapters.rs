//! What the vectors of OpenViking's four adapters have in common (spec/openviking 12): `expected.json`, with what theirs made
//! of the files beside it.
//!
//! Where ours differ on purpose:
//! - A question that the dataset gives no answer to has the single gold `Not mentioned` there. Ours has no gold answer and says
//!   `unanswerable`, so that a refusal is right whatever its words; and where some annotators of Qasper answered, the others'
//!   refusal is no answer (spec/openviking 9, 10).
//! - Questions name their document only where a knowledge base holds several, in our words. The names of documents, and what is
//!   in them, are theirs.

use std::path::{Path, PathBuf};

use ragstage_stages::artifact::Gold;
use ragstage_stages::error::InputError;
use ragstage_stages::prepare::{AdapterSpec, BenchmarkSpec, Selection};
use serde_json::Value;

use crate::golden::golden;
use crate::prepared::{Prepared, prepare};

/// A vector and what is expected of it.
pub struct Vector {
    /// The folder of the vector.
    pub folder: PathBuf,
    /// `expected.json`.
    pub expected: Value,
}

/// The vector of an adapter; `None`, said loudly, where it is absent.
pub fn vector(adapter: &str) -> Option<Vector> {
    let folder = golden("openviking_adapters")?.join(adapter);
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    Some(Vector { folder, expected: serde_json::from_str(&text).expect("expected.json is JSON") })
}

impl Vector {
    /// The path of the dataset of one of its variants; the vector itself is the variant "".
    pub fn path(&self, variant: &str) -> PathBuf {
        let path = self.of(variant)["dataset_path"].as_str().expect("a path");
        if path == "." { self.folder.clone() } else { self.folder.join(path) }
    }

    /// What is expected of a variant.
    pub fn of(&self, variant: &str) -> &Value {
        let expected = if variant.is_empty() { &self.expected } else { &self.expected[variant] };
        assert!(expected.is_object(), "no variant {variant:?}");
        expected
    }
}

/// The benchmark that an adapter reads.
pub fn read(adapter: AdapterSpec) -> Prepared {
    try_read(adapter).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The same, or what is wrong.
pub fn try_read(adapter: AdapterSpec) -> Result<Prepared, Vec<InputError>> {
    prepare(&BenchmarkSpec { adapter, selection: Selection::default() }, &|_, bytes| bytes)
}

/// The items of a list.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list.
pub fn texts(value: &Value) -> Vec<&str> {
    items(value).iter().filter_map(Value::as_str).collect()
}

/// Ours must have the documents that theirs has, byte for byte.
pub fn compare_documents(expected: &Value, ours: &Prepared) {
    let of_ours: Vec<(&str, &str, &str)> = ours
        .documents
        .rows
        .iter()
        .map(|document| {
            let data = document.data.as_deref().expect("a document with its bytes");
            (document.document_id.as_str(), document.name.as_str(), std::str::from_utf8(data).expect("UTF-8"))
        })
        .collect();
    let text = |document: &'_ Value, key: &str| document[key].as_str().expect("a text").to_string();
    let theirs: Vec<(String, String, String)> = items(&expected["documents"])
        .iter()
        .map(|document| (text(document, "sample_id"), text(document, "file_name"), text(document, "content")))
        .collect();
    let theirs: Vec<(&str, &str, &str)> =
        theirs.iter().map(|(id, name, text)| (id.as_str(), name.as_str(), text.as_str())).collect();
    assert_eq!(of_ours, theirs);
    assert_eq!(expected["counts"]["documents"], of_ours.len());
}

/// The cases whose label `label` is `sample`, each with its question.
pub fn cases_of<'a>(ours: &'a Prepared, label: &str, sample: &str) -> Vec<(&'a str, &'a Gold)> {
    let cases = ours.queries.rows.iter().zip(&ours.golds.rows);
    cases.filter(|(_, gold)| gold.labels[label] == sample).map(|(query, gold)| (query.text.as_str(), gold)).collect()
}

/// Our gold answers as theirs has them: `Not mentioned` where there is nothing to answer.
pub fn answers(gold: &Gold) -> Vec<&str> {
    match gold.metadata.get("unanswerable") {
        Some(Value::Bool(true)) => {
            assert!(gold.answers.is_empty(), "{gold:?}");
            vec!["Not mentioned"]
        }
        _ => gold.answers.iter().map(String::as_str).collect(),
    }
}

/// Their question without the prefix that names the document.
pub fn without_prefix<'a>(question: &'a str, kind: &str, name: &str) -> &'a str {
    question
        .strip_prefix(&format!("Based on the {kind} \"{name}\", "))
        .unwrap_or_else(|| panic!("{question} names {name}"))
}

/// The folder of a test, with `files` in it.
pub fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).expect("folders");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}

/// What is wrong, without the folder, each with its hint.
pub fn told(folder: &tempfile::TempDir, adapter: AdapterSpec) -> Vec<String> {
    let place = format!("{}/", folder.path().display());
    let errors = try_read(adapter).map(|_| ()).expect_err("faults");
    assert!(errors.iter().all(|error| error.hint.is_some() || error.place.line.is_some()), "{errors:?}");
    errors.iter().map(|error| error.to_string().replace(&place, "")).collect()
}
