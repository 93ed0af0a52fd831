//! FinanceBench: JSON lines, and the filings as PDF files (spec/openviking 2.4).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::algorithm::Algorithm;
use super::drawn::Drawn;
use super::json_file::{TextFile, find_file};
use super::layout::{Content, Layout, OutFile};
use super::lines_file::LinesFile;
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

const QUESTIONS: &str = "financebench_open_source.jsonl";
const DOCUMENTS: &str = "financebench_document_information.jsonl";
/// The type of a question that has none.
const DEFAULT_TYPE: &str = "domain-relevant";

/// The filings.
pub(super) struct FinanceBench {
    folder: PathBuf,
    /// The folder of the questions, below the dataset's.
    below: &'static str,
    questions: LinesFile,
    /// What is known of all filings, where that file is there.
    documents: Option<LinesFile>,
    /// For each question of each document its row.
    rows: Vec<Vec<usize>>,
    pool: Pool,
}

impl FinanceBench {
    /// Reads the files in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, SampleError> {
        let path = find_file(folder, &["data/financebench_open_source.jsonl", QUESTIONS])?;
        let parent = path.parent().unwrap_or(folder).to_path_buf();
        let (folder, below) = match () {
            () if folder.is_file() => (parent, ""),
            () if parent != folder => (folder.to_path_buf(), "data"),
            () => (folder.to_path_buf(), ""),
        };
        let known = folder.join(below).join(DOCUMENTS);
        let questions = LinesFile::read(TextFile::read(path)?).map_err(SampleError::Input)?;
        let documents = if known.is_file() {
            Some(LinesFile::read(TextFile::read(known)?).map_err(SampleError::Input)?)
        } else {
            None
        };
        let mut pool = Pool::default();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut errors = Vec::new();
        for (row, (value, _)) in questions.rows.iter().enumerate() {
            let text = |key: &str| value[key].as_str().map(str::to_string);
            let Some(name) = text("doc_name") else {
                errors.push(questions.fault(row, "expected a text as `doc_name`"));
                continue;
            };
            let document = *positions.entry(name.clone()).or_insert_with(|| {
                pool.documents.push(PoolDocument { id: name, questions: Vec::new() });
                rows.push(Vec::new());
                rows.len() - 1
            });
            if let (Some(of), Some(rows)) = (pool.documents.get_mut(document), rows.get_mut(document)) {
                let id = match &value["financebench_id"] {
                    Value::String(id) => id.clone(),
                    _ => text("question").unwrap_or_default(),
                };
                let category = text("question_type").unwrap_or_else(|| DEFAULT_TYPE.to_string());
                of.questions.push(PoolQuestion { id, category: Some(category), same: of.questions.len() });
                rows.push(row);
            }
        }
        if !errors.is_empty() {
            return Err(SampleError::Input(errors));
        }
        Ok(FinanceBench { folder, below, questions, documents, rows, pool })
    }
}

impl Layout for FinanceBench {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, algorithm: Algorithm) -> Vec<OutFile> {
        // OpenViking has them at the top; its adapter, and ours, reads them there as well as in upstream's place.
        let below = Path::new(if algorithm == Algorithm::Stable { self.below } else { "" });
        let rows = drawn
            .documents
            .iter()
            .filter_map(|drawn| Some((self.rows.get(drawn.document)?, &drawn.questions)))
            .flat_map(|(rows, questions)| questions.iter().filter_map(|question| rows.get(*question).copied()));
        let mut out = vec![OutFile { path: below.join(QUESTIONS), content: Content::Bytes(self.questions.with(rows)) }];
        let names: Vec<&str> = drawn
            .documents
            .iter()
            .filter_map(|drawn| self.pool.documents.get(drawn.document))
            .map(|document| document.id.as_str())
            .collect();
        if let Some(documents) = self.documents.as_ref().filter(|_| algorithm == Algorithm::Stable) {
            let drawn: HashSet<&str> = names.iter().copied().collect();
            let of = |(_, (value, _)): &(usize, &(Value, _))| {
                value["doc_name"].as_str().is_some_and(|name| drawn.contains(name))
            };
            let rows = documents.rows.iter().enumerate().filter(of).map(|(row, _)| row);
            out.push(OutFile { path: below.join(DOCUMENTS), content: Content::Bytes(documents.with(rows)) });
        }
        for name in names {
            let path = Path::new("pdfs").join(format!("{name}.pdf"));
            let from = self.folder.join(&path);
            // A name is a value in a file; it must not become a path elsewhere.
            if !name.contains(['/', '\\']) && from.is_file() {
                out.push(OutFile { path, content: Content::Copy(from) });
            }
        }
        out
    }
}
