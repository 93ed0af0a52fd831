//! The `uda` adapter: one subset of UDA-Benchmark, from its question file, its extended file and its documents (spec/heta 4.4).
//!
//! What the reference system gets wrong is mended (spec/heta 9, bugs 1, 3 and 23): gold of TAT is the `answer` column with its
//! scale, FeTaQA and Natural Questions have gold, ids in extended files may be numbers, a carriage return within a cell is a part of
//! it, a document's name is no pattern, a file in the subset's own folder comes before one elsewhere, and documents whose names
//! differ in punctuation alone have ids of their own.

mod about;
mod document_files;
mod evidence;
mod extended;
mod gold;
mod question_file;
mod subset;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::document_files::DocumentFiles;
use self::extended::Extended;
use self::question_file::{QuestionFile, document_names};
use super::about::About;
use super::adapter::{Adapter, ReadFiles};
use super::benchmark::Benchmark;
use super::dataset::{evaluators, first_file};
use super::listing::ListingFile;
use super::sources::FindDocument;
use crate::artifact::{BenchmarkInfo, Json};
use crate::error::InputError;

pub(super) use about::{FETA, FIN, NQ, PAPER_TAB, PAPER_TEXT, TAT};
pub use subset::UdaSubset;

/// Options of the `uda` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdaSpec {
    /// The repository as it is checked out, its `dataset` folder, or a folder with the files in it. Documents are found by their
    /// names anywhere below.
    pub path: PathBuf,
    /// The subset.
    pub subset: UdaSubset,
    /// Which questions are asked, by what is there of their documents.
    #[serde(default)]
    pub documents: UdaDocuments,
}

/// Which questions are asked, by what is there of their documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UdaDocuments {
    /// All are cases; those without their document are skipped, and counted as such.
    #[default]
    All,
    /// Those whose document is there. The others are no cases, so that they are in no sample and no table.
    Present,
}

/// The role of the questions.
const QUESTIONS: &str = "questions";
/// The role of what else is known of some of the questions.
const EXTENDED: &str = "extended";
/// The dataset has no splits.
const SPLIT: &str = "all";

impl UdaSpec {
    /// The file `name` of the repository's folder `dataset/FOLDER`, however much of that is left of the path.
    fn file(&self, folder: &str, name: &str) -> PathBuf {
        let places = [format!("dataset/{folder}/{name}"), format!("{folder}/{name}"), name.to_string()];
        let packed = places.each_ref().map(|place| format!("{place}.gz"));
        let places: Vec<&str> = places.iter().chain(&packed).map(String::as_str).collect();
        first_file(&self.path, &places)
    }
}

impl Adapter for UdaSpec {
    fn name(&self) -> &'static str {
        "uda"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        self.subset.about().name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("subset", self.subset.word());
        if self.documents == UdaDocuments::Present {
            v.text("documents", "present");
        }
    }

    fn listing(&self) -> Vec<ListingFile> {
        let subset = self.subset.word();
        vec![
            ListingFile::required(QUESTIONS, self.file("qa", &format!("{subset}_qa.csv"))),
            ListingFile {
                role: EXTENDED.to_string(),
                path: self.file("extended_qa_info_bench", &format!("bench_{subset}_qa.json")),
                required: false,
            },
        ]
    }

    fn advice(&self) -> &'static str {
        "`path` is UDA-Benchmark's repository, or a folder with the files of its `dataset` folder"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn looks_into(&self) -> Option<&'static str> {
        Some("")
    }

    fn names_documents(&self, role: &str) -> bool {
        role == QUESTIONS
    }

    fn named(&self, files: &ReadFiles<'_>, below: &[String]) -> Vec<String> {
        let Some(source) = files.find(QUESTIONS) else { return Vec::new() };
        let there = DocumentFiles::new(self.subset, below.iter().map(String::as_str));
        let names = document_names(source, self.subset);
        names.iter().filter_map(|name| there.find(name)).map(str::to_string).collect()
    }

    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let mut errors = Vec::new();
        let extended = files.find(EXTENDED).map(|source| Extended::read(source, &mut errors)).unwrap_or_default();
        let there = DocumentFiles::new(self.subset, files.documents.iter().copied());
        let file = QuestionFile { spec: self, source: files.needed(QUESTIONS), extended: &extended };
        let benchmark = file.read(&there, find, &mut errors);
        match benchmark {
            Some(benchmark) if errors.is_empty() => {
                Ok(Benchmark { default_evaluators: evaluators(self.subset.about()), ..benchmark })
            }
            _ => Err(errors),
        }
    }

    fn cases_role(&self) -> &'static str {
        QUESTIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(self.subset.about())
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        self.subset.instructions()
    }
}

/// What the benchmark of `subset` says of itself.
fn info(subset: UdaSubset) -> BenchmarkInfo {
    const FILES: &str = "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/main/dataset";
    let about = subset.about();
    let said = |text: &str| Some(text.to_string());
    let word = subset.word();
    BenchmarkInfo {
        name: about.name.to_string(),
        version: about.version.to_string(),
        split: SPLIT.to_string(),
        task_type: "document_qa".to_string(),
        build_scope: "case".to_string(),
        homepage: said(about.homepage),
        license: said(about.license),
        citation: said(about.citation),
        digest: None,
        metadata: Json::from_iter([
            ("subset".to_string(), json!(word)),
            ("qa_url".to_string(), json!(format!("{FILES}/qa/{word}_qa.csv"))),
            ("extended_info_url".to_string(), json!(format!("{FILES}/extended_qa_info_bench/bench_{word}_qa.json"))),
            ("source_docs_url".to_string(), json!("https://huggingface.co/datasets/qinchuanhui/UDA-QA")),
        ]),
    }
}
