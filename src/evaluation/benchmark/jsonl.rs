//! `benchmark: {adapter: jsonl}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, JsonlSpec};

use super::super::name::NAME;
use super::super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::{path, split, split_of, text};

/// The name of a benchmark without one: the same in every evaluation file, so that they share what is made of it.
const DEFAULT_NAME: &str = "benchmark";

static SCOPES: [Choice; 3] = [
    Choice { word: "corpus", doc: "One over everything." },
    Choice { word: "group", doc: "One per group of cases." },
    Choice { word: "case", doc: "One per document or case." },
];

/// What the adapter accepts.
pub(super) static JSONL: Record = Record {
    name: "jsonl",
    doc: "Documents and cases as JSON lines.",
    fields: &[
        Field {
            name: "documents",
            doc: "File of the documents, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "cases",
            doc: "File of the cases, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "units",
            doc: "File of the run units; without it there is one unit over everything.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "root",
            doc: "Folder that `path` payloads are relative to; the folder of `documents` by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "name",
            doc: "Name of the benchmark. It is in the benchmark's keys, so evaluations that give it several names share nothing.",
            shape: NAME,
            need: Need::Default("\"benchmark\""),
        },
        Field { name: "version", doc: "Version of the dataset.", shape: TEXT, need: Need::Default("\"1\"") },
        split(TEXT),
        Field {
            name: "task_type",
            doc: "What is asked for, in your words.",
            shape: TEXT,
            need: Need::Default("\"rag_qa\""),
        },
        Field {
            name: "build_scope",
            doc: "What a knowledge base is built for, as the dataset's owner has it; what the units say by default.",
            shape: Shape::Choice(&SCOPES),
            need: Need::Optional,
        },
        Field { name: "homepage", doc: "Where the dataset is from.", shape: TEXT, need: Need::Optional },
        Field { name: "license", doc: "Its licence.", shape: TEXT, need: Need::Optional },
        Field { name: "citation", doc: "How to cite it.", shape: TEXT, need: Need::Optional },
        Field { name: "metadata", doc: "Anything else.", shape: Shape::Free, need: Need::Default("{}") },
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::Jsonl(JsonlSpec {
        documents: path(view, base, "documents").unwrap_or_default(),
        cases: path(view, base, "cases").unwrap_or_default(),
        units: path(view, base, "units"),
        root: path(view, base, "root"),
        name: text(view, "name").unwrap_or_else(|| DEFAULT_NAME.to_string()),
        version: text(view, "version").unwrap_or_else(|| "1".to_string()),
        split: split_of(view),
        task_type: text(view, "task_type").unwrap_or_else(|| "rag_qa".to_string()),
        build_scope: text(view, "build_scope"),
        homepage: text(view, "homepage"),
        license: text(view, "license"),
        citation: text(view, "citation"),
        metadata: view.get("metadata").json().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::Selection;

    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn jsonl_with_defaults() {
        let expected = JsonlSpec {
            documents: "conf/d.jsonl".into(),
            cases: "/abs/c.jsonl".into(),
            units: None,
            root: None,
            name: "benchmark".to_string(),
            version: "1".to_string(),
            split: "test".to_string(),
            task_type: "rag_qa".to_string(),
            build_scope: None,
            homepage: None,
            license: None,
            citation: None,
            metadata: serde_json::Map::new(),
        };
        let spec = read("{adapter: jsonl, documents: d.jsonl, cases: /abs/c.jsonl, homepage: }").expect("a benchmark");
        assert_eq!(spec.adapter, AdapterSpec::Jsonl(expected.clone()));
        assert_eq!(spec.selection, Selection::default());
        let defaults = spelled_out(JSONL.fields);
        let spec = read(&format!("{{adapter: jsonl, documents: d.jsonl, cases: /abs/c.jsonl, {}", &defaults[1..]))
            .expect("a benchmark");
        assert_eq!(spec.adapter, AdapterSpec::Jsonl(expected));
    }

    #[test]
    fn the_owner_says_the_scope() {
        let spec = read("{adapter: jsonl, documents: d, cases: c, build_scope: group}").expect("a benchmark");
        assert!(matches!(spec.adapter, AdapterSpec::Jsonl(spec) if spec.build_scope.as_deref() == Some("group")));
        assert!(read("{adapter: jsonl, documents: d, cases: c, build_scope: all}").is_err());
    }
}
