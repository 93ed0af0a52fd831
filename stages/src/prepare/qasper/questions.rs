//! Questions about papers, with what is expected of each (spec/openviking 2.3).

use serde_json::{Value, json};

use super::annotation::{Annotation, AnswerType};
use super::paper::{Paper, PaperQuestion};
use crate::artifact::{Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::InputError;
use crate::prepare::dataset::object;
use crate::prepare::ids::Ids;
use crate::prepare::rendering::spans_json;
use crate::prepare::scope::Scope;
use crate::prepare::variant::{NOT_MENTIONED, OpenVikingQuestion, Variant};
use crate::python::strip;

/// What evidence that is a figure or a table begins with; its caption follows.
const FLOAT: &str = "FLOAT SELECTED:";

/// The questions about all papers.
pub(super) struct Questions {
    scope: Scope,
    with_unanswerable: bool,
    variant: Variant,
    ids: Ids,
    pub(super) queries: Queries,
    pub(super) golds: Golds,
    left_out: u64,
    unplaced: u64,
}

impl Questions {
    pub(super) fn new(scope: Scope, with_unanswerable: bool, variant: Variant) -> Self {
        Questions {
            scope,
            with_unanswerable,
            variant,
            ids: Ids::new("question_id"),
            queries: Queries::default(),
            golds: Golds::default(),
            left_out: 0,
            unplaced: 0,
        }
    }

    /// What the benchmark says of what was left out.
    pub(super) fn counted(&self) -> Json {
        let mut counted = object([("evidence_not_in_paper", self.unplaced.into())]);
        if !self.with_unanswerable {
            counted.insert("unanswerable_left_out".to_string(), self.left_out.into());
        }
        counted
    }

    /// Adds the questions about `paper`; their positions.
    pub(super) fn add(&mut self, paper: &Paper, errors: &mut Vec<InputError>) -> Vec<u32> {
        let mut positions = Vec::new();
        for question in &paper.questions {
            let position = self.queries.rows.len();
            self.ids.take(&question.id, position, question.place.clone(), errors);
            if !self.with_unanswerable && question.is_unanswered() {
                self.left_out += 1;
                continue;
            }
            // Among many papers a question must say which it is about.
            let text = match self.scope {
                Scope::Corpus => format!("About the paper \"{}\": {}", paper.title, question.text),
                Scope::Document => question.text.clone(),
            };
            let mut query = Query { case_id: question.id.clone(), text, category: None };
            let mut gold = self.gold(paper, question);
            if self.variant.is_openviking() {
                openviking_question(paper, question).replace(&mut query, &mut gold);
            }
            self.queries.rows.push(query);
            self.golds.rows.push(gold);
            positions.extend(u32::try_from(position));
        }
        positions
    }

    fn gold(&mut self, paper: &Paper, question: &PaperQuestion) -> Gold {
        let annotations = &question.annotations;
        let mut answers: Vec<String> = Vec::new();
        let mut types: Vec<&str> = Vec::new();
        let mut evidence: Vec<&str> = Vec::new();
        for annotation in annotations {
            if let Some(answer) = annotation.answer.as_ref().filter(|answer| !answers.contains(answer)) {
                answers.push(answer.clone());
            }
            let word = annotation.answer_type.word();
            if !types.contains(&word) {
                types.push(word);
            }
            for text in &annotation.evidence {
                if !evidence.contains(&text.as_str()) {
                    evidence.push(text);
                }
            }
        }
        let unanswerable = !annotations.is_empty() && question.is_unanswered();
        Gold {
            case_id: question.id.clone(),
            answers,
            evidence: evidence.into_iter().map(|text| self.piece(paper, text)).collect(),
            value: Value::Null,
            metadata: object([("unanswerable", unanswerable.then_some(true).into())]),
            labels: object([
                ("category", question.category().word().into()),
                ("paper", paper.document_id.as_str().into()),
            ]),
            case_metadata: object([
                ("answer_types", json!(types)),
                ("annotations", annotations.iter().map(annotation_json).collect()),
            ]),
        }
    }

    /// A paragraph, a heading or a caption that an answer rests on.
    fn piece(&mut self, paper: &Paper, written: &str) -> Evidence {
        let stripped = strip(written);
        let caption = stripped.strip_prefix(FLOAT).map(strip);
        let text = caption.unwrap_or(stripped);
        let spans = paper.spans(text);
        self.unplaced += u64::from(spans.is_empty());
        let spans = if spans.is_empty() { Value::Null } else { spans_json(&spans) };
        Evidence {
            reference_id: Some(paper.document_id.clone()),
            locator: object([("document_id", paper.document_id.as_str().into()), ("spans", spans)]),
            text: Some(text.to_string()),
            metadata: object([("float", caption.map(|_| true).into())]),
        }
    }
}

/// The question as OpenViking's benchmark has it: an annotator who found no answer gives a gold answer too, evidence is as it is
/// written, and there are no categories.
fn openviking_question(paper: &Paper, question: &PaperQuestion) -> OpenVikingQuestion {
    let (mut answers, mut evidence): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for annotation in &question.annotations {
        let answer = match annotation.answer_type {
            AnswerType::Unanswerable => Some(NOT_MENTIONED.to_string()),
            _ => annotation.answer.clone(),
        };
        answers.extend(answer.filter(|answer| !answers.contains(answer)));
        for text in &annotation.evidence {
            if !evidence.contains(text) {
                evidence.push(text.clone());
            }
        }
    }
    if answers.is_empty() {
        answers.push(NOT_MENTIONED.to_string());
    }
    OpenVikingQuestion {
        sample_id: paper.id.clone(),
        question: format!("Based on the paper \"{}\", {}", paper.title, question.text),
        answers,
        evidence,
        category: None,
    }
}

impl PaperQuestion {
    /// Whether no annotator found an answer in the paper: all say so, or there is none.
    fn is_unanswered(&self) -> bool {
        self.annotations.iter().all(|annotation| annotation.answer_type == AnswerType::Unanswerable)
    }

    /// The type of the first annotation that is an answer: annotators differ, and a question has one category.
    fn category(&self) -> AnswerType {
        let mut types = self.annotations.iter().map(|annotation| annotation.answer_type);
        let first = types.clone().next().unwrap_or(AnswerType::Unknown);
        types.find(|answer_type| *answer_type != AnswerType::Unanswerable).unwrap_or(first)
    }
}

fn annotation_json(annotation: &Annotation) -> Value {
    let Annotation { answer_type, answer, evidence } = annotation;
    Value::Object(object([
        ("answer_type", answer_type.word().into()),
        ("answer", answer.clone().into()),
        ("evidence", json!(evidence)),
    ]))
}
