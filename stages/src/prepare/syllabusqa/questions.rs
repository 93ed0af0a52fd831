//! Questions about syllabi, with what is expected of each, and the syllabi that they are about (spec/openviking 2.2).

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::adapter::SyllabusQaSpec;
use super::syllabi::{media_type, paths};
use super::table::TableRow;
use crate::artifact::{BenchmarkInfo, Document, Documents, Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::{InputError, Place};
use crate::prepare::adapter::Adapter;
use crate::prepare::benchmark::source_key;
use crate::prepare::dataset::{document_id, object};
use crate::prepare::ids::Ids;
use crate::prepare::scope::Scope;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::{NOT_MENTIONED, OpenVikingQuestion};
use crate::python::strip;

/// The type of questions that the syllabus does not answer.
const NO_ANSWER: &str = "no answer";

/// The questions of all files, with the syllabi that are on disk.
pub(super) struct Questions<'a> {
    spec: &'a SyllabusQaSpec,
    info: &'a BenchmarkInfo,
    find: &'a FindDocument<'a>,
    ids: Ids,
    /// The groups' positions by the syllabus.
    positions: HashMap<String, usize>,
    left_out: u64,
    pub(super) queries: Queries,
    pub(super) golds: Golds,
    pub(super) documents: Documents,
    pub(super) skipped: BTreeMap<String, String>,
    /// For each syllabus, in order of first appearance, its id, the position of its document, and those of its questions.
    pub(super) groups: Vec<(String, Option<u32>, Vec<u32>)>,
}

impl<'a> Questions<'a> {
    pub(super) fn new(spec: &'a SyllabusQaSpec, info: &'a BenchmarkInfo, find: &'a FindDocument<'a>) -> Self {
        Questions {
            spec,
            info,
            find,
            ids: Ids::new("id"),
            positions: HashMap::new(),
            left_out: 0,
            queries: Queries::default(),
            golds: Golds::default(),
            documents: Documents::default(),
            skipped: BTreeMap::new(),
            groups: Vec::new(),
        }
    }

    /// How many syllabi the questions name.
    pub(super) fn syllabi(&self) -> usize {
        self.positions.keys().filter(|name| !name.is_empty()).count()
    }

    /// What the benchmark says of what was left out.
    pub(super) fn counted(&self) -> Json {
        let mut counted = object([("syllabi_not_on_disk", (self.syllabi() - self.documents.rows.len()).into())]);
        if !self.spec.no_answer {
            counted.insert("no_answer_left_out".to_string(), self.left_out.into());
        }
        counted
    }

    /// Adds the question of `row`, and its syllabus where it is new.
    pub(super) fn add(&mut self, row: &TableRow, errors: &mut Vec<InputError>) {
        let group = self.group(row, errors);
        let position = self.queries.rows.len();
        let case_id = match &row.id {
            Some(id) => id.clone(),
            // Rows of the JSON form may have none.
            None => format!("{}/q{}", document_id(&row.syllabus), row.number),
        };
        self.ids.take(&case_id, position, row.place.clone(), errors);
        let is_unanswerable = row.question_type.as_deref() == Some(NO_ANSWER);
        if is_unanswerable && !self.spec.no_answer {
            self.left_out += 1;
            return;
        }
        let Some(text) = &row.question else { return };
        // Among many syllabi a question must say which it is about.
        let text = match self.spec.scope {
            Scope::Corpus if !row.syllabus.is_empty() => format!("About the syllabus \"{}\": {text}", row.syllabus),
            Scope::Corpus | Scope::Document => text.clone(),
        };
        if let Some((_, document, cases)) = self.groups.get_mut(group) {
            if document.is_none() {
                self.skipped.insert(case_id.clone(), missing(self.spec, &row.syllabus));
            }
            cases.extend(u32::try_from(position));
        }
        let mut query = Query { case_id: case_id.clone(), text, category: None };
        let mut gold = gold(row, case_id, is_unanswerable);
        if self.spec.variant.is_openviking() {
            openviking_question(row).replace(&mut query, &mut gold);
        }
        self.queries.rows.push(query);
        self.golds.rows.push(gold);
    }

    /// The position of the group of the row's syllabus.
    fn group(&mut self, row: &TableRow, errors: &mut Vec<InputError>) -> usize {
        if let Some(position) = self.positions.get(&row.syllabus) {
            return *position;
        }
        let id = document_id(&row.syllabus);
        let document = self.document(&id, row, errors).map(|document| {
            self.documents.rows.push(document);
            (self.documents.rows.len() - 1) as u32
        });
        self.positions.insert(row.syllabus.clone(), self.groups.len());
        self.groups.push((id, document, Vec::new()));
        self.groups.len() - 1
    }

    /// The syllabus of `row`, where it is on disk.
    fn document(&self, id: &str, row: &TableRow, errors: &mut Vec<InputError>) -> Option<Document> {
        for path in paths(self.spec.documents, &row.syllabus) {
            match (self.find)(&path) {
                Ok(Some((digest, size))) => {
                    let name = path.rsplit('/').next().unwrap_or(&path).to_string();
                    return Some(Document {
                        source_key: source_key(&self.info.name, &self.info.split, id, &name),
                        document_id: id.to_string(),
                        media_type: media_type(&path).to_string(),
                        name,
                        digest: Some(digest),
                        size: Some(size),
                        data: None,
                        source_uri: None,
                        metadata: Json::new(),
                    });
                }
                Ok(None) => {}
                Err(why) => {
                    errors.push(InputError::new(Place::file(self.spec.root().join(path)), why));
                    return None;
                }
            }
        }
        None
    }
}

/// Why a question about a syllabus that is not on disk is not asked.
fn missing(spec: &SyllabusQaSpec, syllabus: &str) -> String {
    match paths(spec.documents, syllabus).first() {
        Some(path) => format!("the syllabus is not on disk: {path}"),
        None => format!("{syllabus:?} is no name of a syllabus"),
    }
}

/// The question as OpenViking's benchmark has it: steps of reasoning are evidence too, unless they are there as a span.
fn openviking_question(row: &TableRow) -> OpenVikingQuestion {
    let said = |texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| strip(text).to_string()).filter(|text| !text.is_empty()).collect()
    };
    let mut evidence = said(&row.spans);
    for step in said(&row.steps) {
        if !evidence.contains(&step) {
            evidence.push(step);
        }
    }
    let question = row.question.as_deref().unwrap_or_default();
    OpenVikingQuestion {
        sample_id: row.syllabus.clone(),
        question: format!("Based on the syllabus \"{}\", {question}", row.syllabus),
        answers: vec![row.answer.clone().unwrap_or_else(|| NOT_MENTIONED.to_string())],
        evidence,
        category: Some(row.question_type.clone().unwrap_or_default()),
    }
}

/// Spans of the syllabus are evidence. Steps of reasoning, which OpenViking's benchmark counts too, are not: they are the
/// annotators' words (spec/openviking 9, 8).
fn gold(row: &TableRow, case_id: String, is_unanswerable: bool) -> Gold {
    let id = document_id(&row.syllabus);
    let answer = row.answer.as_deref().filter(|_| !is_unanswerable);
    let mut evidence: Vec<Evidence> = Vec::new();
    for span in &row.spans {
        let text = strip(span).to_string();
        if !text.is_empty() && !evidence.iter().any(|piece| piece.text.as_ref() == Some(&text)) {
            evidence.push(Evidence {
                reference_id: Some(id.clone()),
                locator: object([("document_id", json!(id))]),
                text: Some(text),
                metadata: Json::new(),
            });
        }
    }
    let steps: Vec<&str> = row.steps.iter().map(|step| strip(step)).filter(|step| !step.is_empty()).collect();
    Gold {
        case_id,
        answers: answer.map(str::to_string).into_iter().collect(),
        evidence,
        value: Value::Null,
        metadata: object([("unanswerable", answer.is_none().then_some(true).into())]),
        labels: object([("question_type", row.question_type.clone().into()), ("syllabus", json!(row.syllabus))]),
        case_metadata: object([("reasoning_steps", (!steps.is_empty()).then_some(steps).into())]),
    }
}
