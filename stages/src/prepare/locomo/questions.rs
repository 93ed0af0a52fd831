//! Questions about conversations, with what is expected of each (spec/openviking 2.1).

use serde_json::{Value, json};

use super::conversation::{Conversation, mark};
use crate::artifact::{Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::InputError;
use crate::prepare::dataset::{gold_text, object};
use crate::prepare::fields::{Fields, describe};
use crate::prepare::json_file::JsonPart;
use crate::prepare::rendering::spans_json;
use crate::prepare::variant::{NOT_MENTIONED, OpenVikingQuestion, Variant};

/// The dataset's categories, by their number in the file. OpenViking's benchmark takes 1 to 4 for facts, times, inference
/// and meaning, which they are not (spec/openviking 2.1).
const CATEGORIES: [(&str, &str); 5] =
    [("1", "multi-hop"), ("2", "temporal"), ("3", "open-domain"), ("4", "single-hop"), ("5", ADVERSARIAL)];

/// The category of questions about what was never said.
const ADVERSARIAL: &str = "adversarial";

/// The questions of all conversations.
#[derive(Debug, Default)]
pub(super) struct Questions {
    with_adversarial: bool,
    variant: Variant,
    pub(super) queries: Queries,
    pub(super) golds: Golds,
    /// Questions of the category that is left out.
    left_out: u64,
    /// Ids in evidence that name no turn.
    unknown_turns: u64,
    /// Questions without any evidence that can be looked for.
    without_evidence: u64,
}

impl Questions {
    pub(super) fn new(with_adversarial: bool, variant: Variant) -> Self {
        Questions { with_adversarial, variant, ..Questions::default() }
    }

    /// What the benchmark says of what was left out.
    pub(super) fn counted(&self) -> Json {
        let mut counted = object([
            ("evidence_of_no_turn", self.unknown_turns.into()),
            ("cases_without_evidence", self.without_evidence.into()),
        ]);
        if !self.with_adversarial {
            counted.insert("adversarial_left_out".to_string(), self.left_out.into());
        }
        counted
    }

    /// Adds the questions about `conversation`; their positions.
    pub(super) fn read(&mut self, conversation: &Conversation<'_>, errors: &mut Vec<InputError>) -> Vec<u32> {
        let mut positions = Vec::new();
        for (number, part) in (1u64..).zip(&conversation.questions) {
            let position = u32::try_from(self.queries.rows.len()).unwrap_or(u32::MAX);
            if let Some((query, gold)) = self.question(conversation, number, part, errors) {
                self.queries.rows.push(query);
                self.golds.rows.push(gold);
                positions.push(position);
            }
        }
        positions
    }

    /// The question at `number` (from 1) in the conversation's list, which its id is made of: so the id is the same whether
    /// adversarial questions are asked or not.
    fn question(
        &mut self,
        conversation: &Conversation<'_>,
        number: u64,
        part: &JsonPart<'_>,
        errors: &mut Vec<InputError>,
    ) -> Option<(Query, Gold)> {
        let row = match part.row() {
            Ok(row) => row,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let fields = Fields::named(part.path(), &row, &part.name);
        let number_of_category = fields.verbatim("category", errors);
        let named = number_of_category.as_deref().map(|number| {
            CATEGORIES.iter().find(|(known, _)| *known == number).map_or(number, |(_, name)| *name).to_string()
        });
        let adversarial = named.as_deref() == Some(ADVERSARIAL);
        if adversarial && !self.with_adversarial {
            self.left_out += 1;
            return None;
        }
        let text = fields.text("question", errors);
        let answers = if adversarial { None } else { answers(&fields, errors) };
        let (evidence, unknown) = evidence(conversation, &fields, errors);
        self.unknown_turns += unknown.len() as u64;
        self.without_evidence += u64::from(evidence.is_empty());
        let case_id = format!("{}/q{number}", conversation.id);
        let mut gold = Gold {
            case_id: case_id.clone(),
            metadata: object([("unanswerable", answers.is_none().then_some(true).into())]),
            answers: answers.unwrap_or_default(),
            evidence,
            value: Value::Null,
            labels: object([
                ("category", named.into()),
                ("category_number", number_of_category.clone().into()),
                ("conversation", json!(conversation.id)),
            ]),
            case_metadata: object([
                ("original_id", fields.value("id").cloned().unwrap_or_default()),
                ("adversarial_answer", fields.value("adversarial_answer").cloned().unwrap_or_default()),
                ("evidence_of_no_turn", (!unknown.is_empty()).then_some(unknown).into()),
            ]),
        };
        let mut query = Query { case_id, text: text?, category: None };
        if self.variant.is_openviking() {
            let question = OpenVikingQuestion {
                sample_id: conversation.id.clone(),
                // What is wrong with it has been told.
                question: fields.verbatim("question", &mut Vec::new()).unwrap_or_default(),
                answers: openviking_answers(&fields),
                evidence: evidence_as_written(&fields),
                category: number_of_category,
            };
            question.replace(&mut query, &mut gold);
        }
        Some((query, gold))
    }
}

/// The gold answers as OpenViking's benchmark has them: unstripped, and a text of its own where there are none.
fn openviking_answers(fields: &Fields<'_>) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_string).or_else(|| gold_text(value));
    match fields.value("answer").filter(|value| value.as_str() != Some("")) {
        None => vec![NOT_MENTIONED.to_string()],
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(value) => text(value).into_iter().collect(),
    }
}

fn evidence_as_written(fields: &Fields<'_>) -> Vec<String> {
    let items = fields.value("evidence").and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_string).collect()
}

/// The gold answers: those of a list, else the one; `None` where the file gives none, and so nothing was said.
fn answers(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Vec<String>> {
    let value = fields.value("answer").filter(|value| value.as_str() != Some(""))?;
    let items = match value {
        Value::Array(items) => items.as_slice(),
        value => std::slice::from_ref(value),
    };
    let mut answer = |item: &Value| {
        let text = gold_text(item);
        if text.is_none() {
            errors.push(fields.error(format!("`{}` holds {}; expected texts", fields.name("answer"), describe(item))));
        }
        text
    };
    Some(items.iter().filter_map(&mut answer).collect())
}

/// The turns that a question's evidence names, each once, and what in it names no turn.
///
/// A piece has the place of the turn in the document. For results that do not say where they are from there are the
/// document and the mark at the end of the turn, brackets included: `D1:3` alone is in `D1:31` too.
fn evidence(
    conversation: &Conversation<'_>,
    fields: &Fields<'_>,
    errors: &mut Vec<InputError>,
) -> (Vec<Evidence>, Vec<String>) {
    let written = if fields.is_null("evidence") { Vec::new() } else { fields.list("evidence", errors) };
    let (mut ids, mut unknown): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, item) in written {
        let Some(item) = item.as_str() else {
            errors.push(fields.error(format!("`{name}` is {}; expected a text", describe(item))));
            continue;
        };
        let (named, others) = conversation.ids.named(item);
        ids.extend(named);
        unknown.extend(others.into_iter().map(str::to_string));
    }
    let mut pieces: Vec<Evidence> = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let Some(span) = conversation.ids.get(id).filter(|_| !ids.iter().take(at).any(|other| other == id)) else {
            continue;
        };
        pieces.push(Evidence {
            reference_id: Some(conversation.id.clone()),
            locator: object([("document_id", json!(conversation.id)), ("spans", spans_json(&[*span]))]),
            text: Some(mark(id)),
            metadata: object([("turn", json!(id))]),
        });
    }
    (pieces, unknown)
}
