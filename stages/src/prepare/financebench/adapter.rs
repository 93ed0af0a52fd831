//! The options of the adapter, and the files that it reads.

use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};

use super::about::{FINANCEBENCH, INSTRUCTIONS};
use super::questions::{FinanceQuestions, filing};
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, first_file, info};
use crate::prepare::lines::LineEnds;
use crate::prepare::listing::ListingFile;
use crate::prepare::rows::rows;
use crate::prepare::scope::Scope;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::{Variant, in_order_of_samples};

/// Options of the `financebench` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinanceBenchSpec {
    /// The dataset's folder, or the file of its questions. `pdfs` is beside the file, or beside its folder.
    pub path: PathBuf,
    /// What a knowledge base is built for.
    #[serde(default = "scope")]
    pub scope: Scope,
    /// Whose reading of the questions is evaluated.
    #[serde(default)]
    pub variant: Variant,
}

fn scope() -> Scope {
    Scope::Corpus
}

/// The role of the only file.
const QUESTIONS: &str = "questions";

/// The dataset has one split.
const SPLIT: &str = "open_source";

impl FinanceBenchSpec {
    fn file(&self) -> PathBuf {
        first_file(&self.path, &["data/financebench_open_source.jsonl", "financebench_open_source.jsonl"])
    }
}

impl Adapter for FinanceBenchSpec {
    fn name(&self) -> &'static str {
        "financebench"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        FINANCEBENCH.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        self.scope.walk(v);
        self.variant.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        vec![ListingFile::required(QUESTIONS, self.file())]
    }

    fn advice(&self) -> &'static str {
        "name the dataset's folder, with data/financebench_open_source.jsonl and pdfs/, or the file of questions"
    }

    /// The folder that holds `pdfs`.
    fn root(&self) -> PathBuf {
        let file = self.file();
        let above = || file.ancestors().skip(1).take(2);
        let root = above().find(|folder| folder.join("pdfs").is_dir()).or_else(|| above().last());
        root.unwrap_or(Path::new("")).to_path_buf()
    }

    fn names_documents(&self, _role: &str) -> bool {
        true
    }

    fn named(&self, files: &ReadFiles<'_>, _below: &[String]) -> Vec<String> {
        let rows = files.iter().flat_map(|(_, source)| rows(source, LineEnds::Json, &mut Vec::new()));
        rows.filter_map(|row| filing(row.object.get("doc_name")?.as_str()?)).collect()
    }

    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let source = files.needed(QUESTIONS);
        let mut info = info(&FINANCEBENCH, SPLIT, self.scope);
        let mut found = Vec::new();
        let mut questions = FinanceQuestions::new(self.variant);
        for row in rows(source, LineEnds::Json, &mut found) {
            questions.add(source.path, &row, &mut found);
        }
        let benchmark = questions.with_filings(&info, find, source.path, &mut found);
        if found.is_empty() && benchmark.queries.rows.is_empty() {
            found.push(nothing(Place::file(source.path), "question", "is this financebench_open_source.jsonl?"));
        } else if found.is_empty() && benchmark.documents.rows.is_empty() {
            let message = "none of the filings that the questions are about is on disk";
            let hint = format!("they are looked for in {}", self.root().join("pdfs").display());
            found.push(InputError::new(Place::file(source.path), message).hint(hint));
        }
        let mut errors = Vec::new();
        append_in_line_order(&mut errors, found);
        if !errors.is_empty() {
            return Err(errors);
        }
        info.metadata = benchmark.counted();
        let units = self.scope.units(benchmark.groups);
        let samples = benchmark.samples;
        let mut benchmark = Benchmark {
            info,
            documents: benchmark.documents,
            queries: benchmark.queries,
            golds: benchmark.golds,
            units,
            skipped: benchmark.skipped,
            default_evaluators: evaluators(&FINANCEBENCH),
        };
        if self.variant.is_openviking() {
            in_order_of_samples(&mut benchmark, &samples);
        }
        Ok(benchmark)
    }

    fn cases_role(&self) -> &'static str {
        QUESTIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&FINANCEBENCH)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &INSTRUCTIONS
    }
}
