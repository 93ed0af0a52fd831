//! The questions of MultiHop-RAG.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::benchmark::nothing;
use super::super::fields::Fields;
use super::super::json_file::JsonFile;
use super::super::lines::SourceBytes;
use super::super::record_faults::RecordFaults;
use super::article::Article;
use crate::artifact::{Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::{InputError, Place};
use crate::python::strip;

/// All questions with what is expected of each.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) queries: Queries,
    pub(super) golds: Golds,
    /// How many pieces of evidence are in articles that the corpus does not have.
    pub(super) dangling: u64,
}

/// The questions of `source`; `articles` has the documents' ids. They have no ids of their own, so a question is called after its
/// position.
pub(super) fn read_questions(
    source: SourceBytes<'_>,
    articles: &HashMap<String, usize>,
    errors: &mut Vec<InputError>,
) -> Questions {
    let mut questions = Questions::default();
    let before = errors.len();
    let file = JsonFile::open(source, errors);
    let parts = file.as_ref().map(|file| file.root().items(errors)).unwrap_or_default();
    let mut faults = RecordFaults::new("questions");
    for (position, part) in parts.iter().enumerate() {
        let mut found = Vec::new();
        match part.row() {
            Ok(row) => {
                let fields = Fields::named(source.path, &row, &part.name);
                if let Some((query, gold)) = question(position, &fields, &mut found) {
                    let is_there = |piece: &&Evidence| {
                        piece.reference_id.as_ref().is_some_and(|reference| articles.contains_key(reference))
                    };
                    questions.dangling += gold.evidence.iter().filter(|piece| !is_there(piece)).count() as u64;
                    questions.queries.rows.push(query);
                    questions.golds.rows.push(gold);
                }
            }
            Err(error) => found.push(error),
        }
        faults.add(found);
    }
    faults.append_to(errors);
    if questions.queries.rows.is_empty() && errors.len() == before {
        errors.push(nothing(Place::file(source.path), "question", "is this MultiHopRAG.json of the dataset?"));
    }
    questions
}

fn question(position: usize, fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<(Query, Gold)> {
    let text = fields.text("query", errors);
    let answer = fields.text("answer", errors);
    let question_type = fields.verbatim("question_type", errors);
    let mut evidence = Vec::new();
    for (name, item) in fields.list("evidence_list", errors) {
        evidence.extend(fields.as_fields(name, item, errors).and_then(|fields| piece(&fields, errors)));
    }
    let (text, answer) = (text?, answer?);
    let case_id = format!("multihop_rag_{position:04}");
    let of_type = Json::from_iter([("question_type".to_string(), json!(question_type))]);
    let gold = Gold {
        case_id: case_id.clone(),
        answers: vec![answer],
        evidence,
        value: Value::Null,
        metadata: of_type.clone(),
        labels: of_type,
        case_metadata: Json::from_iter([("original_index".to_string(), json!(position))]),
    };
    Some((Query { case_id, text, category: None }, gold))
}

/// A fact, and the article that states it.
fn piece(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Evidence> {
    let Article { id, mut metadata, .. } = Article::of(fields, errors);
    let fact = fields.verbatim("fact", errors);
    let id = id?;
    metadata.insert("document_id".to_string(), json!(id.document));
    Some(Evidence {
        locator: Json::from_iter([("source_key".to_string(), json!(id.source_key()))]),
        reference_id: Some(id.document),
        text: fact.map(|fact| strip(&fact).to_string()).filter(|fact| !fact.is_empty()),
        metadata,
    })
}
