//! Which benchmark, and which part of it: what an evaluation file says under `benchmark`.

use ragstage_cache::key::walk_texts;
use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::about::About;
use super::adapter::Adapter;
use super::beir::BeirSpec;
use super::command::CommandSpec;
use super::financebench::FinanceBenchSpec;
use super::hotpotqa::HotpotqaSpec;
use super::jsonl::JsonlSpec;
use super::locomo::LocomoSpec;
use super::multihop_rag::MultihopRagSpec;
use super::musique::MusiqueSpec;
use super::qasper::QasperSpec;
use super::syllabusqa::SyllabusQaSpec;
use super::trec::TrecSpec;
use super::uda::UdaSpec;

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
    /// A program that prints the benchmark.
    Command(CommandSpec),
    /// HotpotQA in its distractor setting.
    Hotpotqa(HotpotqaSpec),
    /// MuSiQue.
    Musique(MusiqueSpec),
    /// A test collection.
    Trec(TrecSpec),
    /// LoCoMo's conversations (spec/openviking 2.1).
    Locomo(LocomoSpec),
    /// SyllabusQA's questions and syllabi (spec/openviking 2.2).
    #[serde(rename = "syllabusqa")]
    SyllabusQa(SyllabusQaSpec),
    /// Qasper's papers (spec/openviking 2.3).
    Qasper(QasperSpec),
    /// FinanceBench's filings (spec/openviking 2.4).
    #[serde(rename = "financebench")]
    FinanceBench(FinanceBenchSpec),
    /// MultiHop-RAG (spec/heta 4.3).
    MultihopRag(MultihopRagSpec),
    /// A subset of UDA-Benchmark (spec/heta 4.4).
    Uda(UdaSpec),
}

/// The split of an evaluation that names none.
pub(super) fn split() -> String {
    "test".to_string()
}

/// Which cases of a benchmark are asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// How many cases to keep, from the first on in the benchmark's own order; all by default.
    #[serde(default)]
    pub first: Option<u64>,
    /// How many cases to draw; all by default.
    #[serde(default)]
    pub sample: Option<u64>,
    /// How many documents to draw of those that have cases; cases of others are not asked. All by default.
    #[serde(default)]
    pub sample_documents: Option<u64>,
    /// Whether `sample` draws of each category in proportion.
    #[serde(default)]
    pub stratify: bool,
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
    /// What reads the dataset's files.
    pub(super) fn adapter(&self) -> &dyn Adapter {
        match self {
            AdapterSpec::Jsonl(spec) => spec,
            AdapterSpec::Beir(spec) => spec,
            AdapterSpec::Command(spec) => spec,
            AdapterSpec::Hotpotqa(spec) => spec,
            AdapterSpec::Musique(spec) => spec,
            AdapterSpec::Trec(spec) => spec,
            AdapterSpec::Locomo(spec) => spec,
            AdapterSpec::SyllabusQa(spec) => spec,
            AdapterSpec::Qasper(spec) => spec,
            AdapterSpec::FinanceBench(spec) => spec,
            AdapterSpec::MultihopRag(spec) => spec,
            AdapterSpec::Uda(spec) => spec,
        }
    }

    /// The adapter's name.
    pub fn name(&self) -> &'static str {
        self.adapter().name()
    }

    /// The adapter's code version, bumped by hand when what it reads from the same files changes.
    pub fn version(&self) -> u64 {
        self.adapter().version()
    }

    /// The benchmark's name, as labels and reports have it.
    pub fn benchmark_name(&self) -> String {
        self.adapter().benchmark_name()
    }

    /// What is known of the dataset, where it is one that everybody has.
    pub fn about(&self) -> Option<&'static About> {
        self.adapter().about()
    }

    /// What a chat model is told beside the question, by category, unless the evaluation says so itself.
    pub fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        self.adapter().instructions()
    }
}

/// Visits what the outputs depend on beside the source files: never a path.
impl Walk for AdapterSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("adapter", self.name());
        v.uint("version", self.version());
        self.adapter().walk_options(v);
        v.end();
    }
}

impl Walk for Selection {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("selection", "selection");
        if let Some(first) = self.first {
            v.uint("first", first);
        }
        if let Some(sample) = self.sample {
            v.uint("sample", sample);
            v.uint("seed", self.seed);
        }
        if let Some(documents) = self.sample_documents {
            v.uint("sample_documents", documents);
            if self.sample.is_none() {
                v.uint("seed", self.seed);
            }
        }
        if self.sample.is_some() && self.stratify {
            v.bool("stratify", true);
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
