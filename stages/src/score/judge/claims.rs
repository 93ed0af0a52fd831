//! The claims of a text: rows of their own, which all judges share that ask the same model about the same text.

use serde_json::{Value, json};

use super::panel::{Ask, Panel};
use crate::error::{RowError, StageError};
use crate::model::Prompt;
use crate::step::Step;

const PROMPT: &str = include_str!("prompts/claims.md");
/// Most claims of a text, and most characters of one: without a bound a model that rambles never closes its JSON.
const MOST: usize = 40;
const MOST_CHARS: usize = 400;

/// A text whose claims are asked for.
pub(super) struct Stated<'a> {
    pub(super) case_id: &'a str,
    pub(super) question: &'a str,
    pub(super) text: &'a str,
}

/// The claims of a text, and the whole reply that has them.
pub(super) struct Claims {
    pub(super) claims: Vec<String>,
    pub(super) reply: String,
}

/// Digest material of the prompt: what of it is in the keys of judges that ask for claims.
pub(super) fn prompt() -> Prompt {
    Prompt::new(PROMPT)
}

/// The claims of each of `texts`, in order.
pub(super) fn claims(panel: &Panel<'_>, texts: &[Stated<'_>]) -> Result<Vec<Result<Claims, RowError>>, StageError> {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"claims": {
            "type": "array", "maxItems": MOST,
            "items": {"type": "string", "minLength": 1, "maxLength": MOST_CHARS},
        }},
        "required": ["claims"],
    });
    let prompt = prompt();
    let mut asks = Vec::with_capacity(texts.len());
    for stated in texts {
        let view = json!({"question": stated.question, "text": stated.text});
        let user = prompt.fill(&view).map_err(|fault| StageError::encode(Step::Score, fault))?;
        asks.push(Ask { case_id: stated.case_id, user, schema: schema.clone() });
    }
    let replies = panel.ask(&asks)?;
    let of = |value: &Value| {
        let claims = value.get("claims").and_then(Value::as_array);
        claims.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
    };
    Ok(replies
        .into_iter()
        .map(|reply| reply.map(|reply| Claims { claims: of(&reply.value), reply: reply.text }))
        .collect())
}
