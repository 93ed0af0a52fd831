//! Datasets that are one file of questions: each with its own paragraphs (HotpotQA, MuSiQue), or all over one corpus that stays
//! whole (MultiHop-RAG).

use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;

use super::algorithm::Algorithm;
use super::drawn::Drawn;
use super::json_file::{TextFile, array, find_file};
use super::layout::{Content, Layout, OutFile};
use super::lines_file::LinesFile;
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

/// What one of these datasets looks like.
pub(super) struct Shape {
    /// The file's name.
    pub(super) file: &'static str,
    /// Another that it may have: that of a part which others made.
    pub(super) other_end: &'static str,
    /// The key of a question's id.
    pub(super) id: &'static str,
    /// Its category, where it has one.
    pub(super) category: fn(&Value) -> Option<String>,
    /// The file with the documents of all questions.
    pub(super) corpus: Option<&'static str>,
}

/// The questions.
pub(super) struct QuestionFile {
    name: String,
    file: Rows,
    corpus: Option<(&'static str, PathBuf)>,
    pool: Pool,
}

enum Rows {
    /// A JSON array.
    Array(TextFile),
    /// JSON lines.
    Lines(LinesFile),
}

impl QuestionFile {
    /// Reads the file in `folder`.
    pub(super) fn read(shape: &Shape, folder: &Path) -> Result<Self, SampleError> {
        let path = match find_file(folder, &[shape.file]) {
            Err(error) => only_file(folder, shape.other_end).ok_or(error)?,
            found => found?,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().trim_end_matches(".gz").to_string();
        let text = TextFile::read(path)?;
        let mut values: Vec<(Value, String)> = Vec::new();
        let file = if name.ends_with(".jsonl") {
            let lines = LinesFile::read(text).map_err(SampleError::Input)?;
            for (row, (value, _)) in lines.rows.iter().enumerate() {
                let Some(id) = value[shape.id].as_str() else {
                    return Err(lines.fault(row, format!("expected a text as `{}`", shape.id)).into());
                };
                values.push((value.clone(), id.to_string()));
            }
            Rows::Lines(lines)
        } else {
            for raw in text.json::<Vec<&RawValue>>()? {
                let value: Value = text.parse(raw.get())?;
                let Some(id) = value[shape.id].as_str() else {
                    return Err(text.fault(raw.get(), format!("expected a text as `{}`", shape.id)).into());
                };
                let id = id.to_string();
                values.push((value, id));
            }
            Rows::Array(text)
        };
        let question = |(value, id): &(Value, String)| PoolQuestion {
            id: id.clone(),
            category: Some((shape.category)(value).unwrap_or_default()),
            same: 0,
        };
        let corpus = match shape.corpus {
            Some(corpus) => Some((corpus, find_file(folder, &[corpus])?)),
            None => None,
        };
        let documents = if corpus.is_some() {
            let mut questions: Vec<PoolQuestion> = values.iter().map(question).collect();
            for (i, question) in questions.iter_mut().enumerate() {
                question.same = i;
            }
            vec![PoolDocument { id: "corpus".to_string(), questions }]
        } else {
            values.iter().map(|row| PoolDocument { id: row.1.clone(), questions: vec![question(row)] }).collect()
        };
        Ok(QuestionFile { name, file, corpus, pool: Pool { documents } })
    }
}

/// The only file in `folder` whose name ends so.
fn only_file(folder: &Path, end: &str) -> Option<PathBuf> {
    let paths = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut fitting = paths.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(end) && name != super::write::METADATA_FILE && path.is_file()
    });
    fitting.next().filter(|_| fitting.next().is_none())
}

impl Layout for QuestionFile {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, _: Algorithm) -> Vec<OutFile> {
        let of_document = |drawn: &super::drawn::DrawnDocument| -> Vec<usize> {
            if self.corpus.is_some() { drawn.questions.clone() } else { vec![drawn.document] }
        };
        let rows = drawn.documents.iter().flat_map(of_document);
        let bytes = match &self.file {
            Rows::Lines(lines) => lines.with(rows),
            Rows::Array(file) => {
                // It was read before, so that nothing fails here.
                let all = file.json::<Vec<&RawValue>>().unwrap_or_default();
                let kept: Vec<String> = rows.filter_map(|row| all.get(row)).map(|raw| raw.get().to_string()).collect();
                array(&kept).into_bytes()
            }
        };
        let mut out = vec![OutFile { path: self.name.clone().into(), content: Content::Bytes(bytes) }];
        if let Some((name, from)) = &self.corpus {
            out.push(OutFile { path: (*name).into(), content: Content::Copy(from.clone()) });
        }
        out
    }
}
