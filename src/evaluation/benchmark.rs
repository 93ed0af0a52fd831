//! `benchmark`: which dataset, read by which adapter, and which part of it.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, BeirSpec, BenchmarkSpec, JsonlSpec, Selection};

use super::diagnostic::Faults;
use super::name::NAME;
use super::shape::{Field, Need, Record, Shape, TEXT, Tagged};
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

const SPLIT: Field =
    Field { name: "split", doc: "The split of the dataset.", shape: TEXT, need: Need::Default("\"test\"") };

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
        SPLIT,
        Field {
            name: "task_type",
            doc: "What is asked for, in your words.",
            shape: TEXT,
            need: Need::Default("\"rag_qa\""),
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
            shape: TEXT,
            need: Need::Optional,
        },
        SPLIT,
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
        AdapterSpec::Beir(BeirSpec { path, dataset: dataset.unwrap_or_default(), split })
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
        let beir =
            BeirSpec { path: "conf/../SciFact/".into(), dataset: "scifact".to_string(), split: "test".to_string() };
        assert_eq!(spec.adapter, AdapterSpec::Beir(beir));
        assert_eq!(spec.selection.sample, Some(50));
        assert_eq!(spec.selection.categories, Some(vec!["howto".to_string()]));
        assert!(read("{adapter: beir, path: ..}").unwrap_err()[0].starts_with("1:23 path: this path does not end"));
        assert!(read("{adapter: beir, path: .., dataset: x}").is_ok());
    }

    #[test]
    fn keys_belong_to_their_adapter() {
        let faults = read("{adapter: beir, path: x, documents: y}").unwrap_err();
        assert_eq!(
            faults,
            ["1:26 : unknown key `documents` [keys here are adapter, path, dataset, split, sample, seed, \
                 categories, category_label]"]
        );
        assert_eq!(
            read("{adapter: json, documents: y}").unwrap_err(),
            ["1:11 adapter: expected one of `jsonl`, `beir`, found the text `json` [did you mean `jsonl`?]"]
        );
        assert_eq!(read("{path: x}").unwrap_err(), ["1:1 : missing `adapter`, expected one of `jsonl`, `beir`"]);
    }
}
