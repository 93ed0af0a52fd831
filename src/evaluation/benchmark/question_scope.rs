//! `scope` of benchmarks whose questions come with documents of their own.

use ragstage_stages::prepare::QuestionScope;

use super::super::shape::{Choice, Field, Need, Shape};
use super::super::view::View;

static SCOPES: [Choice; 2] = [
    Choice { word: "question", doc: "One per question, over its own documents." },
    Choice { word: "corpus", doc: "One over the documents of all questions, each once." },
];

/// The key `scope`.
pub(super) const SCOPE: Field = Field {
    name: "scope",
    doc: "What a knowledge base is built for.",
    shape: Shape::Choice(&SCOPES),
    need: Need::Default("\"question\""),
};

/// The scope of a checked `benchmark`.
pub(super) fn question_scope(view: &View<'_>) -> QuestionScope {
    match view.get("scope").text() {
        Some("corpus") => QuestionScope::Corpus,
        _ => QuestionScope::Question,
    }
}
