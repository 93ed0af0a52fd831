//! `benchmark`: which dataset, read by which adapter, and which part of it.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, BeirSpec, BenchmarkSpec, JsonlSpec, Selection};

use super::diagnostic::Faults;
use super::name::NAME;
use super::shape::{Choice, Field, Need, Record, Refusal, Shape, TEXT, Tagged, TextRule};
use super::view::View;

/// What `benchmark` accepts.
pub(super) static BENCHMARK: Tagged = Tagged {
    key: "adapter",
    doc: "The format of the dataset's own files.",
    variants: &[("jsonl", &JSONL), ("beir", &BEIR)],
    shared: &[
        Field {
            name: "sample",
            doc: "How many cases to draw; all by default.",
            shape: Shape::Int { min: 1, max: u64::MAX },
            need: Need::Optional,
        },
        Field {
            name: "seed",
            doc: "Seed of the draw.",
            shape: Shape::Int { min: 0, max: u64::MAX },
            need: Need::Default("0"),
        },
        Field {
            name: "categories",
            doc: "Categories to keep; all by default.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Optional,
        },
        Field {
            name: "category_label",
            doc: "The label that is a case's category; the first of `category`, `question_type`, `type` by default.",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
};

/// The name of a benchmark without one: the same in every evaluation file, so that they share what is made of it.
const DEFAULT_NAME: &str = "benchmark";

/// An id that a file's name is made of.
const ID: Shape = Shape::Text(&TextRule {
    expected: "an id",
    pattern: Some(r"^[^/\\]*[^\s/\\][^/\\]*$"),
    refuse: |text| {
        text.contains(['/', '\\']).then(|| Refusal {
            message: format!("expected an id, not a path, found `{text}`"),
            hint: Some("write the folder under `path`".to_string()),
        })
    },
});

const fn split(shape: Shape) -> Field {
    Field { name: "split", doc: "The split of the dataset.", shape, need: Need::Default("\"test\"") }
}

static SCOPES: [Choice; 3] = [
    Choice { word: "corpus", doc: "One over everything." },
    Choice { word: "group", doc: "One per group of cases." },
    Choice { word: "case", doc: "One per document or case." },
];

static JSONL: Record = Record {
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

static BEIR: Record = Record {
    name: "beir",
    doc: "A folder in the format of BEIR.",
    fields: &[
        Field {
            name: "path",
            doc: "The folder with `corpus.jsonl`, `queries.jsonl` and `qrels/`, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "dataset",
            doc: "Id of the dataset; the folder's name in lower case by default.",
            shape: ID,
            need: Need::Optional,
        },
        split(ID),
        Field {
            name: "dataset_url",
            doc: "Where the dataset is from; the place of BEIR's own datasets by default. Nothing is fetched from it.",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// The benchmark that a checked `benchmark` stands for. `base` is the folder of the evaluation file.
pub(super) fn convert(view: &View<'_>, base: &Path, faults: &mut Faults) -> BenchmarkSpec {
    let text = |key: &str| view.get(key).text().map(str::to_string);
    let path = |key: &str| view.get(key).text().map(|path| base.join(path));
    let split = text("split").unwrap_or_else(|| "test".to_string());
    let adapter = if text("adapter").as_deref() == Some("beir") {
        let path = path("path").unwrap_or_default();
        let dataset = text("dataset").or_else(|| folder_name(&path));
        if dataset.is_none() && view.get("path").is_given() && !view.is_faulty("dataset") {
            let at = view.get("path");
            let message = "this path does not end in a folder's name that could be the dataset's";
            faults.add_hint(at.start(), &at.path, message, "name the dataset with `dataset`".to_string());
        }
        AdapterSpec::Beir(BeirSpec {
            path,
            dataset: dataset.unwrap_or_default(),
            split,
            dataset_url: text("dataset_url"),
        })
    } else {
        AdapterSpec::Jsonl(JsonlSpec {
            documents: path("documents").unwrap_or_default(),
            cases: path("cases").unwrap_or_default(),
            units: path("units"),
            root: path("root"),
            name: text("name").unwrap_or_else(|| DEFAULT_NAME.to_string()),
            version: text("version").unwrap_or_else(|| "1".to_string()),
            split,
            task_type: text("task_type").unwrap_or_else(|| "rag_qa".to_string()),
            build_scope: text("build_scope"),
            homepage: text("homepage"),
            license: text("license"),
            citation: text("citation"),
            metadata: view.get("metadata").json().unwrap_or_default(),
        })
    };
    let selection = Selection {
        sample: view.get("sample").int(),
        seed: view.get("seed").int().unwrap_or_default(),
        categories: view.get("categories").texts(),
        category_label: text("category_label"),
    };
    BenchmarkSpec { adapter, selection }
}

fn folder_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<BenchmarkSpec, Vec<String>> {
        checked(text, &Shape::Tagged(&BENCHMARK), |view, faults| convert(view, Path::new("conf"), faults))
    }

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
        let spec = read("{adapter: jsonl, documents: d.jsonl, cases: /abs/c.jsonl, homepage: }").unwrap();
        assert_eq!(spec.adapter, AdapterSpec::Jsonl(expected.clone()));
        assert_eq!(spec.selection, Selection::default());
        let defaults = spelled_out(JSONL.fields);
        let spec =
            read(&format!("{{adapter: jsonl, documents: d.jsonl, cases: /abs/c.jsonl, {}", &defaults[1..])).unwrap();
        assert_eq!(spec.adapter, AdapterSpec::Jsonl(expected));
    }

    #[test]
    fn beir_takes_its_dataset_from_the_folder() {
        let spec =
            read("{adapter: beir, path: ../SciFact/, sample: 50, categories: [howto], category_label: type}").unwrap();
        let beir = BeirSpec {
            path: "conf/../SciFact/".into(),
            dataset: "scifact".to_string(),
            split: "test".to_string(),
            dataset_url: None,
        };
        assert_eq!(spec.adapter, AdapterSpec::Beir(beir));
        assert_eq!(spec.selection.sample, Some(50));
        assert_eq!(spec.selection.categories, Some(vec!["howto".to_string()]));
        assert!(read("{adapter: beir, path: ..}").unwrap_err()[0].starts_with("1:23 path: this path does not end"));
        assert!(read("{adapter: beir, path: .., dataset: x}").is_ok());
    }

    #[test]
    fn the_ids_of_a_beir_folder_are_no_paths() {
        let faults = read("{adapter: beir, path: x, dataset: a/b, split: 'a\\b'}").unwrap_err();
        assert_eq!(
            faults,
            [
                "1:35 dataset: expected an id, not a path, found `a/b` [write the folder under `path`]",
                "1:47 split: expected an id, not a path, found `a\\b` [write the folder under `path`]",
            ]
        );
        assert!(read("{adapter: beir, path: x, split: ' '}").is_err());
        assert!(read("{adapter: jsonl, documents: d, cases: c, split: a/b}").is_ok());
    }

    #[test]
    fn the_owner_says_scope_and_place() {
        let spec = read("{adapter: jsonl, documents: d, cases: c, build_scope: group}").unwrap();
        assert!(matches!(spec.adapter, AdapterSpec::Jsonl(spec) if spec.build_scope.as_deref() == Some("group")));
        assert!(read("{adapter: jsonl, documents: d, cases: c, build_scope: all}").is_err());
        let spec = read("{adapter: beir, path: x, dataset_url: 'https://example.org/x.zip'}").unwrap();
        let url = Some("https://example.org/x.zip");
        assert!(matches!(spec.adapter, AdapterSpec::Beir(spec) if spec.dataset_url.as_deref() == url));
    }

    #[test]
    fn keys_belong_to_their_adapter() {
        let faults = read("{adapter: beir, path: x, documents: y}").unwrap_err();
        assert_eq!(
            faults,
            ["1:26 : unknown key `documents` [keys here are adapter, path, dataset, split, dataset_url, sample, \
                 seed, categories, category_label]"]
        );
        assert_eq!(
            read("{adapter: json, documents: y}").unwrap_err(),
            ["1:11 adapter: expected one of `jsonl`, `beir`, found the text `json` [did you mean `jsonl`?]"]
        );
        assert_eq!(read("{path: x}").unwrap_err(), ["1:1 : missing `adapter`, expected one of `jsonl`, `beir`"]);
    }
}
