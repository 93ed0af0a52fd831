//! Which benchmark, and which part of it: what an evaluation file says under `benchmark`.

use std::path::PathBuf;

use ragstage_cache::key::{walk_json, walk_texts};
use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use crate::artifact::Json;

/// The adapter that reads a dataset's own files, with its options. Paths are resolved by whoever reads the evaluation file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "adapter", rename_all = "snake_case")]
// An evaluation holds one of these: a box would save nothing.
#[allow(clippy::large_enum_variant)]
pub enum AdapterSpec {
    /// Documents and cases as JSON lines (spec/heta 4.1).
    Jsonl(JsonlSpec),
    /// A BEIR folder (spec/heta 4.2).
    Beir(BeirSpec),
}

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

fn split() -> String {
    "test".to_string()
}

fn task_type() -> String {
    "rag_qa".to_string()
}

/// Options of the `beir` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeirSpec {
    /// The folder with `corpus.jsonl` (or `.gz`), `queries.jsonl` and `qrels/<split>.tsv`.
    pub path: PathBuf,
    /// The dataset's id, e.g. `scifact`.
    pub dataset: String,
    /// The split.
    #[serde(default = "split")]
    pub split: String,
    /// Where the dataset is from; the place of BEIR's own datasets by default. Nothing is fetched from it.
    #[serde(default)]
    pub dataset_url: Option<String>,
}

/// Which cases of a benchmark are asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// How many cases to draw; all by default.
    #[serde(default)]
    pub sample: Option<u64>,
    /// Seed of the draw.
    #[serde(default)]
    pub seed: u64,
    /// Categories to keep; all by default.
    #[serde(default)]
    pub categories: Option<Vec<String>>,
    /// The label that is the case's category; the first of `category`, `question_type`, `type` by default.
    #[serde(default)]
    pub category_label: Option<String>,
}

/// A benchmark and the part of it that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkSpec {
    /// Adapter and its options.
    pub adapter: AdapterSpec,
    /// Which cases.
    pub selection: Selection,
}

impl AdapterSpec {
    /// The adapter's name.
    pub fn name(&self) -> &'static str {
        match self {
            AdapterSpec::Jsonl(_) => "jsonl",
            AdapterSpec::Beir(_) => "beir",
        }
    }

    /// The adapter's code version, bumped by hand when what it reads from the same files changes.
    pub fn version(&self) -> u64 {
        match self {
            AdapterSpec::Jsonl(_) | AdapterSpec::Beir(_) => 1,
        }
    }
}

/// Visits what the outputs depend on beside the source files: never a path.
impl Walk for AdapterSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("adapter", self.name());
        v.uint("version", self.version());
        match self {
            AdapterSpec::Jsonl(spec) => {
                v.text("name", &spec.name);
                v.text("dataset_version", &spec.version);
                v.text("split", &spec.split);
                v.text("task_type", &spec.task_type);
                for (name, value) in [
                    ("build_scope", &spec.build_scope),
                    ("homepage", &spec.homepage),
                    ("license", &spec.license),
                    ("citation", &spec.citation),
                ] {
                    if let Some(value) = value {
                        v.text(name, value);
                    }
                }
                walk_json(v, "metadata", &serde_json::Value::Object(spec.metadata.clone()));
            }
            AdapterSpec::Beir(spec) => {
                v.text("dataset", &spec.dataset);
                v.text("split", &spec.split);
                if let Some(url) = &spec.dataset_url {
                    v.text("dataset_url", url);
                }
            }
        }
        v.end();
    }
}

impl Walk for Selection {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("selection", "selection");
        if let Some(sample) = self.sample {
            v.uint("sample", sample);
            v.uint("seed", self.seed);
        }
        if let Some(categories) = &self.categories {
            walk_texts(v, "categories", categories);
        }
        if let Some(label) = &self.category_label {
            v.text("category_label", label);
        }
        v.end();
    }
}
