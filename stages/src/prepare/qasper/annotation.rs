//! What one annotator answered (spec/openviking 2.3).

use serde_json::Value;

use crate::error::InputError;
use crate::prepare::fields::{Fields, describe};
use crate::python::strip;

/// How an annotator answered, in the words of the dataset's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerType {
    /// Passages of the paper.
    Extractive,
    /// Words of the annotator's own.
    FreeForm,
    /// Yes or no.
    YesNo,
    /// That the paper does not tell.
    Unanswerable,
    /// Not at all.
    Unknown,
}

impl AnswerType {
    /// The word in labels.
    pub(super) fn word(self) -> &'static str {
        match self {
            AnswerType::Extractive => "extractive",
            AnswerType::FreeForm => "free_form",
            AnswerType::YesNo => "yes_no",
            AnswerType::Unanswerable => "unanswerable",
            AnswerType::Unknown => "unknown",
        }
    }
}

/// One annotator's answer.
#[derive(Debug, Clone)]
pub(super) struct Annotation {
    pub(super) answer_type: AnswerType,
    /// The answer, where there is one.
    pub(super) answer: Option<String>,
    /// The paragraphs and captions that it rests on, as written, without blank ones.
    pub(super) evidence: Vec<String>,
}

impl Annotation {
    /// The annotation in `fields`, those of the key `answer`.
    pub(super) fn read(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Self {
        let unanswerable = truth(fields, "unanswerable", errors).unwrap_or_default();
        let spans = texts(fields, "extractive_spans", errors);
        let free_form = fields.verbatim("free_form_answer", errors).unwrap_or_default();
        let yes_no = truth(fields, "yes_no", errors);
        let evidence = texts(fields, "evidence", errors).into_iter().filter(|text| !strip(text).is_empty()).collect();
        let said = |text: &str| Some(strip(text).to_string()).filter(|text| !text.is_empty());
        let (answer_type, answer) = match (spans.as_slice(), said(&free_form), yes_no) {
            _ if unanswerable => (AnswerType::Unanswerable, None),
            (spans @ [_, ..], _, _) => {
                let spans: Vec<String> = spans.iter().filter_map(|span| said(span)).collect();
                (AnswerType::Extractive, said(&spans.join("; ")))
            }
            ([], Some(text), _) => (AnswerType::FreeForm, Some(text)),
            ([], None, Some(yes)) => (AnswerType::YesNo, Some(if yes { "Yes" } else { "No" }.to_string())),
            ([], None, None) => (AnswerType::Unknown, None),
        };
        Annotation { answer_type, answer, evidence }
    }
}

/// The truth value of `key`, where there is one.
fn truth(fields: &Fields<'_>, key: &str, errors: &mut Vec<InputError>) -> Option<bool> {
    let value = fields.value(key)?;
    if value.as_bool().is_none() {
        errors.push(fields.error(format!("`{}` is {}; expected true or false", fields.name(key), describe(value))));
    }
    value.as_bool()
}

/// The texts of a list, as written; none where it is null.
fn texts(fields: &Fields<'_>, key: &str, errors: &mut Vec<InputError>) -> Vec<String> {
    if fields.is_null(key) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for (name, item) in fields.list(key, errors) {
        match item {
            Value::String(text) => texts.push(text.clone()),
            other => errors.push(fields.error(format!("`{name}` is {}; expected a text", describe(other)))),
        }
    }
    texts
}
