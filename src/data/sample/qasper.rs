//! Qasper: a file for each split, an object from paper ids to papers (spec/openviking 2.3).

use std::path::Path;

use ragstage_stages::error::{InputError, Place};
use serde_json::Value;
use serde_json::value::RawValue;

use super::algorithm::Algorithm;
use super::drawn::{Drawn, DrawnDocument};
use super::json_file::{Object, TextFile, quoted};
use super::layout::{Content, Layout, OutFile};
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

/// The files in the order in which OpenViking reads them; a gzip of one will do.
const FILES: [&str; 3] = ["qasper-train-v0.3.json", "qasper-dev-v0.3.json", "qasper-test-v0.3.json"];

/// The papers.
pub(super) struct Qasper {
    /// The files that are there, with their names.
    files: Vec<(&'static str, TextFile)>,
    /// For each document the position of its file, and its own in it.
    places: Vec<(usize, usize)>,
    pool: Pool,
}

impl Qasper {
    /// Reads the files in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, SampleError> {
        let mut files = Vec::new();
        for name in FILES {
            let paths = [folder.join(name), folder.join(format!("{name}.gz"))];
            if let Some(path) = paths.into_iter().find(|path| path.is_file()) {
                files.push((name, TextFile::read(path)?));
            }
        }
        if files.is_empty() {
            let message = format!("expected one of `{}` in this folder, found none", FILES.join("`, `"));
            return Err(InputError::new(Place::file(folder), message)
                .hint("`ragstage data download qasper` fetches them; --from names the folder that they are in")
                .into());
        }
        let (mut errors, mut documents, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (file, (_, text)) in files.iter().enumerate() {
            let papers: Object<'_> = text.json()?;
            for (i, (id, paper)) in papers.fields.iter().enumerate() {
                match document(text, id, paper.get()) {
                    Ok(document) => {
                        documents.push(document);
                        places.push((file, i));
                    }
                    Err(error) => errors.push(error),
                }
            }
        }
        if errors.is_empty() {
            Ok(Qasper { pool: Pool { documents }, files, places })
        } else {
            Err(SampleError::Input(errors))
        }
    }
}

/// The texts of a paper's questions.
fn questions<'a>(file: &'a TextFile, paper: &Object<'a>) -> Result<Vec<&'a str>, InputError> {
    let Some(text) = paper.get("qas") else { return Ok(Vec::new()) };
    let all: Vec<&RawValue> = file.parse(text)?;
    Ok(all.into_iter().map(RawValue::get).collect())
}

fn document(file: &TextFile, id: &str, text: &str) -> Result<PoolDocument, InputError> {
    let paper: Object<'_> = file.parse(text)?;
    let mut of = Vec::new();
    for (i, text) in questions(file, &paper)?.into_iter().enumerate() {
        let value: Value = file.parse(text)?;
        let Some(question) = value["question_id"].as_str() else {
            return Err(file.fault(text, "expected a question with a text as `question_id`"));
        };
        of.push(PoolQuestion { id: question.to_string(), category: category(&value), same: i });
    }
    Ok(PoolDocument { id: id.to_string(), questions: of })
}

/// The type of the first answer that is one; `None` where all say that there is none. (The original takes any of the types, as
/// Python's hash seed has it.)
fn category(question: &Value) -> Option<String> {
    let answers = question["answers"].as_array()?;
    let answer = answers.iter().map(|answer| &answer["answer"]).find(|answer| answer["unanswerable"] != true)?;
    let has_spans = answer["extractive_spans"].as_array().is_some_and(|spans| !spans.is_empty());
    let has_text = answer["free_form_answer"].as_str().is_some_and(|text| !text.trim().is_empty());
    let name = match (has_spans, has_text) {
        (true, _) => "extractive",
        (false, true) => "free_form",
        (false, false) if !answer["yes_no"].is_null() => "yes_no",
        (false, false) => "extractive",
    };
    Some(name.to_string())
}

impl Layout for Qasper {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, _: Algorithm) -> Vec<OutFile> {
        let mut out = Vec::new();
        for (position, (name, file)) in self.files.iter().enumerate() {
            // It was read before, so that nothing fails here.
            let Ok(papers) = file.json::<Object<'_>>() else { continue };
            let of = |drawn: &DrawnDocument| {
                let (_, place) = self.places.get(drawn.document).filter(|(file, _)| *file == position)?;
                let (id, text) = papers.fields.get(*place)?;
                let paper: Object<'_> = file.parse(text.get()).ok()?;
                let texts = questions(file, &paper).ok()?;
                let kept: Vec<&str> =
                    drawn.questions.iter().filter_map(|question| texts.get(*question).copied()).collect();
                Some(format!("{}: {}", quoted(id), paper.with("qas", &format!("[{}]", kept.join(", ")))))
            };
            let papers: Vec<String> = drawn.documents.iter().filter_map(of).collect();
            if !papers.is_empty() {
                let text = format!("{{\n{}\n}}\n", papers.join(",\n"));
                out.push(OutFile { path: (*name).into(), content: Content::Bytes(text.into_bytes()) });
            }
        }
        out
    }
}
