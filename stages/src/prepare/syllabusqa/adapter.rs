//! The options of the adapter, and the files that it reads.

use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};

use super::about::{INSTRUCTIONS, SYLLABUSQA};
use super::questions::Questions;
use super::syllabi::{Syllabi, SyllabusForm};
use super::table::{TableRow, table_rows};
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, info};
use crate::prepare::listing::{ListingFile, named_files};
use crate::prepare::scope::Scope;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::{Variant, in_order_of_samples};

/// Options of the `syllabusqa` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyllabusQaSpec {
    /// The dataset's folder, or one file of questions: CSV, or JSON of the form `{syllabus: [row, ...]}`.
    pub path: PathBuf,
    /// Of a folder, the split to read: `train`, `val`, `test`, or `all` of its CSV files.
    #[serde(default = "all")]
    pub split: String,
    /// Which form of the syllabi is read; by default the Word file, and the text file where there is none.
    #[serde(default)]
    pub documents: Option<SyllabusForm>,
    /// What a knowledge base is built for.
    #[serde(default = "scope")]
    pub scope: Scope,
    /// Whether questions of the type `no answer` are asked too: a refusal is right then.
    #[serde(default)]
    pub no_answer: bool,
    /// Whose reading of the questions is evaluated.
    #[serde(default)]
    pub variant: Variant,
}

fn all() -> String {
    "all".to_string()
}

fn scope() -> Scope {
    Scope::Corpus
}

/// The role of a file that is named itself.
const QUESTIONS: &str = "questions";

/// Where a folder may have its CSV files, with the path below it.
const PLACES: [&str; 3] = ["", "dataset_split/", "data/dataset_split/"];

/// How far above a file of questions the folder of the syllabi is looked for.
const ABOVE: usize = 3;

impl SyllabusQaSpec {
    /// The CSV files below the folder, in the order in which they are read.
    fn tables(&self) -> Vec<String> {
        let found = PLACES.into_iter().find_map(|place| {
            let mut names = named_files(&self.path.join(place));
            names.retain(|name| name.ends_with(".csv"));
            (!names.is_empty()).then(|| names.into_iter().map(|name| format!("{place}{name}")).collect::<Vec<_>>())
        });
        let upstream = || ["test", "train", "val"].map(|split| format!("data/dataset_split/{split}.csv")).to_vec();
        let mut tables = found.unwrap_or_else(upstream);
        if self.split != "all" {
            let name = format!("{}.csv", self.split);
            let folder =
                tables.first().and_then(|table| table.rsplit_once('/')).map(|(folder, _)| format!("{folder}/"));
            tables = vec![format!("{}{name}", folder.unwrap_or_default())];
        }
        tables
    }
}

impl Adapter for SyllabusQaSpec {
    fn name(&self) -> &'static str {
        "syllabusqa"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        SYLLABUSQA.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("split", &self.split);
        if let Some(form) = self.documents {
            v.text("documents", form.word());
        }
        self.scope.walk(v);
        v.bool("no_answer", self.no_answer);
        self.variant.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        if !self.path.is_dir() {
            return vec![ListingFile::required(QUESTIONS, self.path.clone())];
        }
        self.tables().into_iter().map(|table| ListingFile::required(table.clone(), self.path.join(table))).collect()
    }

    fn advice(&self) -> &'static str {
        "name the dataset's folder, with data/dataset_split/{train,val,test}.csv and syllabi/, or one file of questions"
    }

    /// The folder that holds `syllabi`: the path itself, or where it is a file one above it.
    fn root(&self) -> PathBuf {
        if self.path.is_dir() {
            return self.path.clone();
        }
        let above = || self.path.ancestors().skip(1).take(ABOVE);
        let root = above().find(|folder| folder.join("syllabi").is_dir()).or_else(|| above().next());
        root.unwrap_or(Path::new("")).to_path_buf()
    }

    fn looks_into(&self) -> Option<&'static str> {
        Some("syllabi")
    }

    fn names_documents(&self, _role: &str) -> bool {
        true
    }

    fn named(&self, files: &ReadFiles<'_>, below: &[String]) -> Vec<String> {
        let syllabi = Syllabi::new(self.documents, below);
        let rows = files.iter().flat_map(|(_, source)| table_rows(source, &mut Vec::new()));
        rows.filter_map(|row| syllabi.path(&row.syllabus)).collect()
    }

    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let mut errors = Vec::new();
        let mut rows: Vec<TableRow> = Vec::new();
        for (_, source) in files.iter() {
            let mut found = Vec::new();
            rows.extend(table_rows(source, &mut found));
            append_in_line_order(&mut errors, found);
        }
        let mut info = info(&SYLLABUSQA, &self.split, self.scope);
        let mut questions = Questions::new(self, &info, find);
        let mut found = Vec::new();
        for row in &rows {
            questions.add(row, &mut found);
        }
        errors.append(&mut found);
        let place = || match files.files.as_slice() {
            [(file, _)] => Place::file(&file.path),
            _ => Place::file(&self.path),
        };
        if errors.is_empty() && questions.queries.rows.is_empty() {
            errors.push(nothing(place(), "question to ask", self.advice()));
        } else if errors.is_empty() && questions.documents.rows.is_empty() {
            let message = format!("none of the {} syllabi is on disk", questions.syllabi());
            errors.push(InputError::new(place(), message).hint(format!(
                "they are looked for below {}, as {}",
                self.root().display(),
                Syllabi::example(self.documents),
            )));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let counted = questions.counted();
        let mut default_evaluators = evaluators(&SYLLABUSQA);
        if self.no_answer {
            default_evaluators.push("refusal_agreement".to_string());
        }
        let Questions { queries, golds, documents, skipped, groups, .. } = questions;
        info.metadata = counted;
        let samples: Vec<Vec<u32>> = groups.iter().map(|(_, _, cases)| cases.clone()).collect();
        let units = self.scope.units(groups);
        let mut benchmark = Benchmark { info, documents, queries, golds, units, skipped, default_evaluators };
        if self.variant.is_openviking() {
            in_order_of_samples(&mut benchmark, &samples);
        }
        Ok(benchmark)
    }

    fn cases_role(&self) -> &'static str {
        QUESTIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&SYLLABUSQA)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &INSTRUCTIONS
    }
}
