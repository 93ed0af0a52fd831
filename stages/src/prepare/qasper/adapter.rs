//! The options of the adapter, and the files that it reads.

use std::collections::HashMap;
use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::about::{INSTRUCTIONS, QASPER};
use super::paper::Paper;
use super::questions::Questions;
use crate::artifact::Documents;
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, info, markdown, object};
use crate::prepare::json_file::JsonFile;
use crate::prepare::lines::SourceBytes;
use crate::prepare::listing::{ListingFile, named_files};
use crate::prepare::scope::Scope;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::Variant;

/// Options of the `qasper` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QasperSpec {
    /// A file of papers, or the folder that holds them. May be gzip.
    pub path: PathBuf,
    /// Of a folder, the split to read: `train`, `dev`, `test`, or `all` of its files.
    #[serde(default = "all")]
    pub split: String,
    /// What a knowledge base is built for.
    #[serde(default = "scope")]
    pub scope: Scope,
    /// Whether questions are asked that no annotator could answer from the paper: a refusal is right then. OpenViking's
    /// benchmark leaves them out, and with them the questions without annotations.
    #[serde(default = "yes")]
    pub unanswerable: bool,
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

fn yes() -> bool {
    true
}

/// The role of a file that is named itself.
const PAPERS: &str = "papers";

/// What OpenViking's sampling writes beside the papers.
const SAMPLING: &str = "sampling_metadata.json";

impl QasperSpec {
    /// The names of the files in the folder, in the order in which they are read.
    fn names(&self) -> Vec<String> {
        let is_packed = |name: &str| name.ends_with(".json") || name.ends_with(".json.gz");
        if self.split == "all" {
            let mut names = named_files(&self.path);
            names.retain(|name| is_packed(name) && name != SAMPLING);
            if !names.is_empty() {
                return names;
            }
        }
        let split = if self.split == "all" { "test" } else { &self.split };
        let [plain, packed] = ["json", "json.gz"].map(|ending| format!("qasper-{split}-v0.3.{ending}"));
        let is_there = |name: &String| self.path.join(name).exists();
        vec![if !is_there(&plain) && is_there(&packed) { packed } else { plain }]
    }
}

impl Adapter for QasperSpec {
    fn name(&self) -> &'static str {
        "qasper"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        QASPER.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("split", &self.split);
        self.scope.walk(v);
        v.bool("unanswerable", self.unanswerable);
        self.variant.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        if !self.path.is_dir() {
            return vec![ListingFile::required(PAPERS, self.path.clone())];
        }
        self.names().into_iter().map(|name| ListingFile::required(name.clone(), self.path.join(name))).collect()
    }

    fn advice(&self) -> &'static str {
        "name a file such as qasper-test-v0.3.json, or the folder that holds such files"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let mut errors = Vec::new();
        let mut papers: Vec<Paper> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut replaced = 0u64;
        for (_, source) in files.iter() {
            let mut found = Vec::new();
            for paper in read_papers(source, &mut found) {
                // A paper of an earlier file is replaced where it stood.
                match positions.get(&paper.id).and_then(|position| papers.get_mut(*position)) {
                    Some(earlier) => {
                        *earlier = paper;
                        replaced += 1;
                    }
                    None => {
                        positions.insert(paper.id.clone(), papers.len());
                        papers.push(paper);
                    }
                }
            }
            append_in_line_order(&mut errors, found);
        }
        let mut info = info(&QASPER, &self.split, self.scope);
        let mut documents = Documents::default();
        let mut questions = Questions::new(self.scope, self.unanswerable, self.variant);
        let mut groups = Vec::new();
        let mut found = Vec::new();
        for (position, paper) in (0u32..).zip(papers) {
            let cases = questions.add(&paper, &mut found);
            documents.rows.push(markdown(
                &info,
                &paper.document_id,
                paper.text,
                object([("title", paper.title.into())]),
            ));
            groups.push((paper.document_id, Some(position), cases));
        }
        errors.append(&mut found);
        if errors.is_empty() && questions.queries.rows.is_empty() {
            let what = if documents.rows.is_empty() { "paper" } else { "question to ask" };
            errors.push(nothing(Place::file(self.file(files)), what, "is this a file of Qasper's papers?"));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        info.metadata = questions.counted();
        if replaced > 0 {
            info.metadata.insert("papers_replaced_by_later_files".to_string(), replaced.into());
        }
        Ok(Benchmark {
            info,
            documents,
            queries: questions.queries,
            golds: questions.golds,
            units: self.scope.units(groups),
            default_evaluators: evaluators(&QASPER),
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        PAPERS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&QASPER)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &INSTRUCTIONS
    }
}

impl QasperSpec {
    /// The file that is read, or the folder where there are several.
    fn file(&self, files: &ReadFiles<'_>) -> PathBuf {
        match files.files.as_slice() {
            [(file, _)] => file.path.clone(),
            _ => self.path.clone(),
        }
    }
}

/// The papers of one file.
fn read_papers(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<Paper> {
    let Some(file) = JsonFile::open(source, errors) else { return Vec::new() };
    let parts = file.root().entries(errors);
    let read: Vec<(Option<Paper>, Vec<InputError>)> = parts
        .par_iter()
        .map(|(id, part)| {
            let mut errors = Vec::new();
            (Paper::read(id, part, &mut errors), errors)
        })
        .collect();
    let mut papers = Vec::with_capacity(read.len());
    for (paper, mut found) in read {
        papers.extend(paper);
        errors.append(&mut found);
    }
    papers
}
