//! The `multihop_rag` adapter: MultiHop-RAG's `corpus.json` and `MultiHopRAG.json` (spec/heta 4.3).
//!
//! What the reference system gets wrong is mended (spec/heta 9, bug 26): a question without an `evidence_list` has no evidence.
//! Evidence in an article that the corpus does not have stays, and is counted in the benchmark's metadata.

mod about;
mod article;
mod question;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::about::MULTIHOP_RAG;
use self::article::read_articles;
use self::question::read_questions;
use super::about::About;
use super::adapter::{Adapter, ReadFiles};
use super::benchmark::Benchmark;
use super::dataset::{evaluators, first_file};
use super::listing::ListingFile;
use super::sources::FindDocument;
use crate::artifact::{BenchmarkInfo, Json};
use crate::error::InputError;

pub(super) use about::MULTIHOP_RAG as ABOUT;

/// Options of the `multihop_rag` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultihopRagSpec {
    /// The folder with `corpus.json` and `MultiHopRAG.json`, or with both in `dataset/`; each may be gzip with `.gz` at its end.
    pub path: PathBuf,
}

/// The role of the articles.
const CORPUS: &str = "corpus";
/// The role of the questions.
const QUERIES: &str = "queries";
/// The benchmark's name.
const NAME: &str = "multihop_rag";
/// The dataset has no splits.
const SPLIT: &str = "all";

impl Adapter for MultihopRagSpec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        NAME.to_string()
    }

    fn walk_options(&self, _: &mut dyn KeyVisitor) {}

    fn listing(&self) -> Vec<ListingFile> {
        let file = |name: &str| {
            let places =
                [name.to_string(), format!("{name}.gz"), format!("dataset/{name}"), format!("dataset/{name}.gz")];
            first_file(&self.path, &places.each_ref().map(String::as_str))
        };
        vec![
            ListingFile::required(CORPUS, file("corpus.json")),
            ListingFile::required(QUERIES, file("MultiHopRAG.json")),
        ]
    }

    fn advice(&self) -> &'static str {
        "the folder holds corpus.json and MultiHopRAG.json, as the authors ship them"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let mut errors = Vec::new();
        let (documents, ids) = read_articles(files.needed(CORPUS), &mut errors);
        let questions = read_questions(files.needed(QUERIES), &ids, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut info = info();
        if questions.dangling > 0 {
            info.metadata.insert("evidence_without_document".to_string(), json!(questions.dangling));
        }
        Ok(Benchmark {
            info,
            documents,
            queries: questions.queries,
            golds: questions.golds,
            units: vec![Benchmark::whole(Json::new())],
            default_evaluators: evaluators(&MULTIHOP_RAG),
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        QUERIES
    }

    fn about(&self) -> Option<&'static About> {
        Some(&MULTIHOP_RAG)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        // One text for all: what kind of question it is, a null query above all, is nothing that whoever answers may know.
        const TEXT: &str = include_str!("prompts/answer.md");
        &[("inference_query", TEXT), ("comparison_query", TEXT), ("temporal_query", TEXT), ("null_query", TEXT)]
    }
}

/// What the benchmark says of itself.
fn info() -> BenchmarkInfo {
    const FILES: &str = "https://huggingface.co/datasets/yixuantt/MultiHopRAG/resolve/main/";
    let said = |text: &str| Some(text.to_string());
    BenchmarkInfo {
        name: NAME.to_string(),
        version: MULTIHOP_RAG.version.to_string(),
        split: SPLIT.to_string(),
        task_type: "multi_hop_qa".to_string(),
        build_scope: "corpus".to_string(),
        homepage: said(MULTIHOP_RAG.homepage),
        license: said(MULTIHOP_RAG.license),
        citation: said(MULTIHOP_RAG.citation),
        digest: None,
        metadata: Json::from_iter([
            ("corpus_url".to_string(), json!(format!("{FILES}corpus.json"))),
            ("queries_url".to_string(), json!(format!("{FILES}MultiHopRAG.json"))),
        ]),
    }
}
