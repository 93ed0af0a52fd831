//! SyllabusQA: a CSV file for each split, and the syllabi as files (spec/openviking 2.2).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ragstage_stages::error::{InputError, Place};

use super::algorithm::Algorithm;
use super::csv_file::{CsvFile, Dialect};
use super::drawn::Drawn;
use super::json_file::TextFile;
use super::layout::{Content, Layout, OutFile};
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

const SPLITS: [&str; 3] = ["train.csv", "val.csv", "test.csv"];
/// Where the splits may be, below the dataset's folder.
const FOLDERS: [&str; 3] = ["data/dataset_split", "dataset_split", ""];
const SYLLABI: &str = "syllabi/syllabi_redacted";
/// The syllabi's folders below that, with the ends of their names.
const FORMS: [(&str, &str); 3] = [("pdf", "pdf"), ("text", "txt"), ("word", "docx")];
/// Questions of this type are not asked.
const NO_ANSWER: &str = "no answer";

/// The syllabi.
pub(super) struct SyllabusQa {
    folder: PathBuf,
    /// The folder of the splits, below the dataset's.
    splits: &'static str,
    /// The splits that are there, with their names.
    files: Vec<(&'static str, CsvFile)>,
    /// For each question of each document its file and its record in it.
    places: Vec<Vec<(usize, usize)>>,
    pool: Pool,
}

impl SyllabusQa {
    /// Reads the files in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, SampleError> {
        let has_split = |below: &&&str| SPLITS.iter().any(|split| folder.join(below).join(split).is_file());
        let Some(splits) = FOLDERS.iter().find(has_split) else {
            let message = "expected `data/dataset_split/train.csv` or another split in this folder, found none";
            return Err(InputError::new(Place::file(folder), message)
                .hint("`ragstage data download syllabusqa` fetches them; --from names the folder that they are in")
                .into());
        };
        let mut files = Vec::new();
        for name in SPLITS {
            let path = folder.join(splits).join(name);
            if path.is_file() {
                let columns = ["syllabus_name", "question_type", "id"];
                files.push((name, CsvFile::read(&TextFile::read(path)?, Dialect::Commas, &columns)?));
            }
        }
        let mut documents: Vec<PoolDocument> = Vec::new();
        let mut places: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (file, (_, csv)) in files.iter().enumerate() {
            for (row, record) in csv.records.iter().enumerate() {
                let [name, kind, id] = record.cells.as_slice() else { continue };
                let document = *known.entry(name.clone()).or_insert_with(|| {
                    documents.push(PoolDocument { id: name.clone(), questions: Vec::new() });
                    places.push(Vec::new());
                    documents.len() - 1
                });
                if let (Some(of), Some(places)) = (documents.get_mut(document), places.get_mut(document)) {
                    let category = (kind != NO_ANSWER).then(|| kind.clone());
                    of.questions.push(PoolQuestion { id: id.clone(), category, same: of.questions.len() });
                    places.push((file, row));
                }
            }
        }
        Ok(SyllabusQa { folder: folder.to_path_buf(), splits, files, places, pool: Pool { documents } })
    }
}

impl Layout for SyllabusQa {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, algorithm: Algorithm) -> Vec<OutFile> {
        // OpenViking has them at the top; its adapter, and ours, reads them there as well as in upstream's place.
        let splits = if algorithm == Algorithm::Stable { self.splits } else { "" };
        let mut out = Vec::new();
        let kept: Vec<(usize, usize)> = drawn
            .documents
            .iter()
            .filter_map(|drawn| Some((self.places.get(drawn.document)?, &drawn.questions)))
            .flat_map(|(places, questions)| questions.iter().filter_map(|question| places.get(*question).copied()))
            .collect();
        for (position, (name, csv)) in self.files.iter().enumerate() {
            let rows = || kept.iter().filter(|(file, _)| *file == position).map(|(_, row)| *row);
            if rows().next().is_some() {
                let content = Content::Bytes(csv.with(rows()));
                out.push(OutFile { path: Path::new(splits).join(name), content });
            }
        }
        for drawn in &drawn.documents {
            let Some(document) = self.pool.documents.get(drawn.document) else { continue };
            for (form, end) in FORMS {
                let path = Path::new(SYLLABI).join(form).join(format!("{}.{end}", document.id));
                let from = self.folder.join(&path);
                // A name is a cell of a file; it must not become a path elsewhere.
                if !document.id.contains(['/', '\\']) && from.is_file() {
                    out.push(OutFile { path, content: Content::Copy(from) });
                }
            }
        }
        out
    }
}
