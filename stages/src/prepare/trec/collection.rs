//! The documents of a collection, in one file or in many.

use std::collections::HashMap;

use ragstage_cache::Digest;
use rayon::prelude::*;
use serde_json::json;

use super::collection_format::CollectionFormat;
use super::json_lines::{first_text, first_verbatim};
use super::sgml;
use super::smart;
use super::source_text::source_text;
use crate::artifact::{BenchmarkInfo, Document, Documents};
use crate::error::{InputError, Place};
use crate::prepare::benchmark::{append_in_line_order, source_key};
use crate::prepare::dataset::object;
use crate::prepare::fields::Fields;
use crate::prepare::lines::{LineEnds, SourceBytes};
use crate::prepare::rows::rows;
use crate::prepare::safe_id::safe_id;
use crate::python::strip;

/// A document as its file has it.
pub(super) struct CollectionDocument {
    /// Its number in the collection.
    pub(super) id: String,
    /// Its title; may be empty.
    pub(super) title: String,
    /// Its text; may be empty.
    pub(super) text: String,
    /// Where it begins.
    pub(super) place: Place,
}

/// The keys of a document's id, and of its text, in JSON lines.
const IDS: [&str; 5] = ["id", "_id", "docno", "doc_id", "document_id"];
const TEXTS: [&str; 3] = ["text", "contents", "body"];

/// The documents of all `files`, in their order. A number that comes twice is an error.
pub(super) fn read(info: &BenchmarkInfo, files: &[SourceBytes<'_>], errors: &mut Vec<InputError>) -> Documents {
    let read: Vec<_> = files.par_iter().map(|source| file(*source)).collect();
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut documents = Vec::new();
    for (found, mut faults) in read {
        for document in found {
            if let Some(other) = places.get(&document.id) {
                let message = format!("document {:?} is there already, at {other}", document.id);
                faults.push(InputError::new(document.place, message).hint("give every document a number of its own"));
                continue;
            }
            places.insert(document.id.clone(), document.place.clone());
            documents.push(row(info, document));
        }
        append_in_line_order(errors, faults);
    }
    Documents { rows: documents }
}

fn file(source: SourceBytes<'_>) -> (Vec<CollectionDocument>, Vec<InputError>) {
    let mut errors = Vec::new();
    let text = match source_text(source) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), vec![error]),
    };
    let path = source.path;
    let documents = match CollectionFormat::of(&text, "doc") {
        CollectionFormat::JsonLines => json_lines(source, &mut errors),
        CollectionFormat::Sgml => {
            let blocks = sgml::blocks(path, &text, "DOC", &mut errors);
            blocks.iter().filter_map(|block| sgml::document(path, block, &mut errors)).collect()
        }
        CollectionFormat::Smart => smart::records(path, &text, &mut errors)
            .into_iter()
            .filter(|record| !record.id.is_empty())
            .map(|smart::SmartRecord { id, title, text, place }| CollectionDocument {
                text: without_title(&title, text),
                id,
                title,
                place,
            })
            .collect(),
        CollectionFormat::Other => {
            let found = if strip(&text).is_empty() { "an empty file" } else { "something else" };
            let message =
                format!("expected documents as JSON lines, in TREC's `<DOC>` or in SMART's `.I`, found {found}");
            let hint = "list the files with documents under `documents`, or move other files out of the folder";
            errors.push(InputError::new(Place::file(path), message).hint(hint));
            Vec::new()
        }
    };
    (documents, errors)
}

fn json_lines(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<CollectionDocument> {
    let mut documents = Vec::new();
    for row in rows(source, LineEnds::Plain, errors) {
        let fields = Fields::of(source.path, &row);
        let id = first_text(&fields, &IDS, errors);
        let title = fields.verbatim("title", errors);
        let text = first_verbatim(&fields, &TEXTS, errors);
        if title.is_none() && text.is_none() && TEXTS.iter().all(|key| fields.value(key).is_none()) {
            errors.push(fields.error("`text` is missing; expected a text").hint("write \"\" for an empty document"));
        }
        if let Some(id) = id {
            let title = strip(&title.unwrap_or_default()).to_string();
            let text = strip(&text.unwrap_or_default()).to_string();
            documents.push(CollectionDocument { id, title, text, place: fields.place() });
        }
    }
    documents
}

/// `text` without the title, where it begins with it, as that of Cranfield's documents does: it would count twice.
fn without_title(title: &str, text: String) -> String {
    let mut rest = text.as_str();
    for word in title.split_whitespace() {
        match rest.trim_start().strip_prefix(word) {
            Some(after) if after.is_empty() || after.starts_with(char::is_whitespace) => rest = after,
            _ => return text,
        }
    }
    if rest.len() == text.len() { text } else { rest.trim_start_matches(['\n', '\r']).to_string() }
}

/// The document as the benchmark has it: its text is its title, an empty line and its text.
fn row(info: &BenchmarkInfo, document: CollectionDocument) -> Document {
    let CollectionDocument { id, title, text, place: _ } = document;
    let content = match (title.as_str(), text.as_str()) {
        (title, "") => title.to_string(),
        ("", text) => text.to_string(),
        (title, text) => format!("{title}\n\n{text}"),
    };
    let document_id = safe_id(&id);
    let name = format!("{document_id}.txt");
    let data = content.into_bytes();
    Document {
        source_key: source_key(&info.name, &info.split, &document_id, &name),
        document_id,
        name,
        media_type: "text/plain".to_string(),
        digest: Some(Digest::of(&data)),
        size: Some(data.len() as u64),
        data: Some(data),
        source_uri: None,
        metadata: object([("docno", json!(id)), ("title", json!((!title.is_empty()).then_some(title)))]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read_all(files: &[(&str, &str)]) -> (Documents, Vec<String>) {
        let sources: Vec<SourceBytes<'_>> =
            files.iter().map(|(path, text)| SourceBytes { path: Path::new(*path), bytes: text.as_bytes() }).collect();
        let mut errors = Vec::new();
        let info = BenchmarkInfo { name: "reef".into(), split: "test".into(), ..BenchmarkInfo::default() };
        let documents = read(&info, &sources, &mut errors);
        (documents, errors.iter().map(ToString::to_string).collect())
    }

    fn texts(documents: &Documents) -> Vec<(&str, &str)> {
        let rows = documents.rows.iter().map(|row| (row.document_id.as_str(), row.data.as_deref().unwrap_or_default()));
        rows.map(|(id, data)| (id, std::str::from_utf8(data).expect("UTF-8"))).collect()
    }

    #[test]
    fn files_of_several_formats_are_one_collection() {
        let (documents, errors) = read_all(&[
            (
                "a.jsonl",
                "{\"id\": 1, \"title\": \" T \", \"text\": \"one\"}\n{\"docno\": \"b 2\", \"contents\": \"\"}\n",
            ),
            ("b.sgml", "<DOC><DOCNO>c</DOCNO><TEXT>two</TEXT></DOC>"),
            (
                "c.all",
                ".I 4\n.T\nhigh tide .\n.W\nhigh\ntide .\n  at noon .\n.I 5\n.T\n.W\n.I 6\n.T\nlow tide\n.W\nlow tides\n",
            ),
        ]);
        assert!(errors.is_empty(), "{errors:?}");
        let found = texts(&documents);
        let expected = [
            ("1", "T\n\none"),
            (found[1].0, ""),
            ("c", "two"),
            ("4", "high tide .\n\n  at noon ."),
            ("5", ""),
            ("6", "low tide\n\nlow tides"),
        ];
        assert_eq!(found, expected);
        assert!(found[1].0.starts_with("b_2_"));
        assert_eq!(documents.rows[1].metadata["docno"], "b 2");
    }

    #[test]
    fn every_fault_is_told_with_file_and_line() {
        let (_, errors) = read_all(&[
            (
                "a.jsonl",
                "{\"id\": \"x\", \"text\": \"one\"}\n{\"id\": \"x\", \"text\": 1.5}\n{\"text\": \"\"}\n{\"id\": \"y\"}\n{\"id\": \n",
            ),
            ("b.sgml", "<DOC><DOCNO>x</DOCNO></DOC>\n<DOC>\n"),
            ("readme", "Files of documents."),
            ("empty", ""),
        ]);
        assert_eq!(
            errors,
            [
                "a.jsonl:2: document \"x\" is there already, at a.jsonl:1",
                "a.jsonl:3: `id` is missing; expected a text",
                "a.jsonl:4: `text` is missing; expected a text",
                "a.jsonl:5:8: invalid JSON: EOF while parsing a value",
                "b.sgml:1: document \"x\" is there already, at a.jsonl:1",
                "b.sgml:2: `<DOC>` without `</DOC>` after it",
                "readme: expected documents as JSON lines, in TREC's `<DOC>` or in SMART's `.I`, found something else",
                "empty: expected documents as JSON lines, in TREC's `<DOC>` or in SMART's `.I`, found an empty file",
            ]
        );
    }
}
