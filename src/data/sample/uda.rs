//! UDA: a file of questions for each subset, and the documents as files (spec/heta 4.4).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::algorithm::Algorithm;
use super::csv_file::{CsvFile, Dialect};
use super::drawn::Drawn;
use super::json_file::{TextFile, find_file};
use super::layout::{Content, Layout, OutFile};
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

/// Where documents may be, below the dataset's folder.
const DOCUMENTS: [&str; 2] = ["dataset/src_doc_files", "dataset/src_doc_files_example"];

/// The questions of a subset.
pub(super) struct Uda {
    folder: PathBuf,
    /// The path of the questions, below that.
    path: String,
    /// The file with more of the questions, which is taken whole.
    extended: String,
    questions: CsvFile,
    /// For each question of each document its record.
    records: Vec<Vec<usize>>,
    pool: Pool,
}

impl Uda {
    /// Reads the files of the dataset `name` (`uda_fin`) in `folder`.
    pub(super) fn read(name: &str, folder: &Path) -> Result<Self, SampleError> {
        let subset = name.strip_prefix("uda_").unwrap_or(name);
        let path = format!("dataset/qa/{subset}_qa.csv");
        let file = TextFile::read(find_file(folder, &[&path])?)?;
        let questions = CsvFile::read(&file, Dialect::Bars, &["doc_name", "q_uid"])?;
        let (mut documents, mut records): (Vec<PoolDocument>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, usize> = HashMap::new();
        for (row, record) in questions.records.iter().enumerate() {
            let [name, id] = record.cells.as_slice() else { continue };
            let name = name.trim();
            let document = *known.entry(name.to_string()).or_insert_with(|| {
                documents.push(PoolDocument { id: name.to_string(), questions: Vec::new() });
                records.push(Vec::new());
                records.len() - 1
            });
            if let (Some(of), Some(records)) = (documents.get_mut(document), records.get_mut(document)) {
                let (id, same) = (id.trim().to_string(), of.questions.len());
                of.questions.push(PoolQuestion { id, category: Some(String::new()), same });
                records.push(row);
            }
        }
        let extended = format!("dataset/extended_qa_info_bench/bench_{subset}_qa.json");
        let folder = folder.to_path_buf();
        Ok(Uda { folder, path, extended, questions, records, pool: Pool { documents } })
    }
}

/// The files below `folder` whose names are one of `names` with an end, by path.
fn files_of(folder: &Path, names: &HashSet<&str>, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_of(&path, names, found);
        } else if path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| names.contains(stem)) {
            found.push(path);
        }
    }
}

impl Layout for Uda {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, _: Algorithm) -> Vec<OutFile> {
        let mut records: Vec<usize> = drawn
            .documents
            .iter()
            .filter_map(|drawn| Some((self.records.get(drawn.document)?, &drawn.questions)))
            .flat_map(|(records, questions)| questions.iter().filter_map(|question| records.get(*question).copied()))
            .collect();
        records.sort_unstable();
        let content = Content::Bytes(self.questions.with(records.into_iter()));
        let mut out = vec![OutFile { path: self.path.clone().into(), content }];
        let names: HashSet<&str> = drawn
            .documents
            .iter()
            .filter_map(|drawn| self.pool.documents.get(drawn.document))
            .map(|document| document.id.as_str())
            .collect();
        let mut copied = Vec::new();
        for folder in DOCUMENTS {
            files_of(&self.folder.join(folder), &names, &mut copied);
        }
        copied.extend([self.folder.join(&self.extended)].into_iter().filter(|path| path.is_file()));
        out.extend(copied.into_iter().filter_map(|from| {
            let path = from.strip_prefix(&self.folder).ok()?.to_path_buf();
            Some(OutFile { path, content: Content::Copy(from) })
        }));
        out
    }
}
