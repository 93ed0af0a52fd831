//! A paper as a document in Markdown, with the place of every part of it (spec/openviking 2.3).

use std::collections::HashMap;

use super::annotation::Annotation;
use crate::error::{InputError, Place};
use crate::prepare::dataset::document_id;
use crate::prepare::fields::{Fields, describe};
use crate::prepare::json_file::JsonPart;
use crate::prepare::rendering::{Rendering, Span};
use crate::prepare::rows::Row;
use crate::python::strip;

/// The title of a paper that has none, as in OpenViking's benchmark.
const UNTITLED: &str = "Unknown Title";

/// A paper with the questions about it.
#[derive(Debug)]
pub(super) struct Paper {
    /// The dataset's id.
    pub(super) id: String,
    /// Its document's id.
    pub(super) document_id: String,
    pub(super) title: String,
    /// The document.
    pub(super) text: String,
    /// Where its abstract, paragraphs, headings and captions stand, by their stripped texts.
    parts: HashMap<String, Vec<Span>>,
    /// The questions about it.
    pub(super) questions: Vec<PaperQuestion>,
}

/// A question as annotators answered it.
#[derive(Debug)]
pub(super) struct PaperQuestion {
    /// Where it is, for errors.
    pub(super) place: Place,
    pub(super) id: String,
    pub(super) text: String,
    pub(super) annotations: Vec<Annotation>,
}

impl Paper {
    /// The paper `id` that `part` holds; `None` where it is no object.
    pub(super) fn read(id: &str, part: &JsonPart<'_>, errors: &mut Vec<InputError>) -> Option<Self> {
        let before = errors.len();
        let entries = part.entries(errors);
        if errors.len() > before {
            return None;
        }
        let find = |name: &str| entries.iter().find(|(key, part)| key == name && !part.is_null()).map(|(_, part)| part);
        let rows =
            |name: &str, errors: &mut Vec<InputError>| find(name).map(|part| rows(part, errors)).unwrap_or_default();
        let title = find("title").and_then(|part| part.text(errors)).unwrap_or_else(|| UNTITLED.to_string());
        let mut render = Render::default();
        render.lines.line(&format!("# {title}"));
        render.lines.line(&format!("Paper ID: {id}"));
        render.lines.line("");
        let summary = find("abstract").and_then(|part| part.text(errors)).unwrap_or_default();
        if !summary.is_empty() {
            render.lines.line("## Abstract");
            render.part("", &summary);
            render.lines.line("");
        }
        for (row, part) in rows("full_text", errors) {
            render.section(&Fields::named(part.path(), &row, &part.name), errors);
        }
        let figures = rows("figures_and_tables", errors);
        if !figures.is_empty() {
            render.lines.line("## Figures and Tables");
        }
        for (number, (row, part)) in (1u64..).zip(figures) {
            render.figure(number, &Fields::named(part.path(), &row, &part.name), errors);
        }
        let questions = rows("qas", errors);
        let questions = questions.iter().filter_map(|(row, part)| question(row, part, errors)).collect();
        let (text, parts) = (render.lines.into_text(), render.parts);
        Some(Paper { id: id.to_string(), document_id: document_id(id), title, text, parts, questions })
    }

    /// Where `text` stands: as a part of the paper, else anywhere in it; nowhere where it is not to be found to the letter.
    pub(super) fn spans(&self, text: &str) -> Vec<Span> {
        if let Some(spans) = self.parts.get(text) {
            return spans.clone();
        }
        let Some((before, _)) = self.text.split_once(text) else { return Vec::new() };
        let start = before.chars().count() as u64;
        vec![Span { start, end: start + text.chars().count() as u64 }]
    }
}

/// The objects of a list, with their places.
fn rows<'f>(part: &JsonPart<'f>, errors: &mut Vec<InputError>) -> Vec<(Row, JsonPart<'f>)> {
    let mut rows = Vec::new();
    for part in part.items(errors) {
        match part.row() {
            Ok(row) => rows.push((row, part)),
            Err(error) => errors.push(error),
        }
    }
    rows
}

fn question(row: &Row, part: &JsonPart<'_>, errors: &mut Vec<InputError>) -> Option<PaperQuestion> {
    let fields = Fields::named(part.path(), row, &part.name);
    let (id, text) = (fields.text("question_id", errors), fields.text("question", errors));
    let mut annotations = Vec::new();
    for (name, item) in fields.list("answers", errors) {
        let answer = fields.as_fields(name, item, errors);
        let Some(answer) = answer.as_ref().and_then(|answer| answer.needed("answer", errors)) else { continue };
        annotations.push(Annotation::read(&answer, errors));
    }
    Some(PaperQuestion { place: fields.place(), id: id?, text: text?, annotations })
}

#[derive(Debug, Default)]
struct Render {
    lines: Rendering,
    parts: HashMap<String, Vec<Span>>,
}

impl Render {
    /// Adds a line that evidence may name.
    fn part(&mut self, prefix: &str, text: &str) {
        let span = self.lines.prefixed(prefix, text);
        let text = strip(text);
        if !text.is_empty() {
            self.parts.entry(text.to_string()).or_default().push(span);
        }
    }

    fn section(&mut self, fields: &Fields<'_>, errors: &mut Vec<InputError>) {
        // Sub-sections (`Method ::: Sensors`) have the same level, as in OpenViking's documents.
        if let Some(name) = fields.verbatim("section_name", errors).filter(|name| !name.is_empty()) {
            self.part("## ", &name);
        }
        for (name, item) in fields.list("paragraphs", errors) {
            match item.as_str() {
                Some(text) if strip(text).is_empty() => {}
                Some(text) => {
                    self.part("", strip(text));
                    self.lines.line("");
                }
                None => {
                    let found = describe(item);
                    errors.push(fields.error(format!("`{name}` is {found}; expected a text")));
                }
            }
        }
    }

    /// Figures and tables are told apart by their files' names and captions, and counted together.
    fn figure(&mut self, number: u64, fields: &Fields<'_>, errors: &mut Vec<InputError>) {
        let caption = fields.verbatim("caption", errors).unwrap_or_default();
        let file = fields.verbatim("file", errors).unwrap_or_default();
        let is_figure = file.contains("Figure") || caption.to_lowercase().contains("figure");
        self.lines.line(&format!("### {} {number}", if is_figure { "Figure" } else { "Table" }));
        if !caption.is_empty() {
            self.part("Caption: ", &caption);
        }
        if !file.is_empty() {
            self.lines.line(&format!("File: {file}"));
        }
        self.lines.line("");
    }
}
