//! What a judge asks its model, and what it takes for a reply.

use serde_json::Value;

use super::judge_evaluator::JudgeOptions;
use super::prompts::{ReplyForm, message};
use super::reply_rule;
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};
use crate::model::{ChatReply, ChatRequest, ModelUsage, Outcome, Prompt, ReplySchema, ask_chat};
use crate::score::evaluator::Scorable;
use crate::step::Step;
use crate::unique_json::UniqueJson;

/// How far apart the seeds of repeated judgements are, so that those of a reply that is asked for again are none of them.
const SEEDS_APART: u64 = 1 << 16;

/// A question on one case.
#[derive(Clone)]
pub(super) struct Question<'a> {
    /// The response that it is about.
    pub(super) about: &'a Scorable<'a>,
    /// Which of several judgements on the same, from 0.
    pub(super) sample: u32,
    /// The prompt, and what fills it.
    pub(super) prompt: &'a Prompt,
    pub(super) view: Value,
    /// What the reply must look like, in words and as a schema; any text will do without a schema.
    pub(super) form: ReplyForm,
    pub(super) schema: Option<ReplySchema>,
}

impl<'a> Question<'a> {
    /// The question as often as judgements are asked for, each time as another sample.
    pub(super) fn repeated(self, options: &JudgeOptions) -> impl Iterator<Item = Question<'a>> + use<'a> {
        (0..options.judgements()).map(move |sample| Question { sample, ..self.clone() })
    }
}

/// A reply that is as asked for.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// The reply itself, kept whole.
    pub(super) chat: ChatReply,
    /// The JSON that it is; null where none was asked for.
    pub(super) value: Value,
    /// What it took when it was made.
    pub(super) usage: ModelUsage,
}

/// What the model replies to each of `questions`, in order. Each reply is a row, so a question that anybody asked before in the
/// same words is not asked again.
pub(super) fn ask(
    context: &dyn Context,
    options: &JudgeOptions,
    questions: &[Question<'_>],
) -> Result<Vec<Result<Reply, RowError>>, StageError> {
    let mut requests: Vec<(String, ChatRequest)> = Vec::with_capacity(questions.len());
    let mut schemas: Vec<Option<&ReplySchema>> = Vec::with_capacity(questions.len());
    let mut unfilled: Vec<Option<RowError>> = Vec::with_capacity(questions.len());
    for question in questions {
        match message(question.prompt, &question.view, &question.form) {
            Ok(text) => {
                let seed = (question.sample > 0).then(|| u64::from(question.sample).wrapping_mul(SEEDS_APART));
                let request = ChatRequest {
                    temperature: options.temperature,
                    seed,
                    schema: question.schema.clone(),
                    sample: question.sample,
                    salt: question.about.salt,
                    attempts: options.attempts,
                    ..ChatRequest::new(None, &text, options.max_tokens)
                };
                requests.push((question.about.case.case_id.to_string(), request));
                schemas.push(question.schema.as_ref());
                unfilled.push(None);
            }
            Err(why) => unfilled.push(Some(RowError::new(RowErrorKind::Evaluator, why))),
        }
    }
    let accept = |index: usize, reply: &ChatReply| match schemas.get(index).copied().flatten() {
        Some(schema) => read(schema, reply).map(drop),
        None => Ok(()),
    };
    let outcomes = ask_chat(context, Step::Score, &options.model, &requests, &accept)?;
    let mut replies = outcomes.into_iter().zip(schemas);
    let lost = || RowError::new(RowErrorKind::BadReply, "there is no reply");
    Ok(unfilled
        .into_iter()
        .map(|unfilled| {
            if let Some(error) = unfilled {
                return Err(error);
            }
            let (outcome, schema) = replies.next().ok_or_else(lost)?;
            let Outcome { reply: chat, usage, .. } = outcome?;
            let value = match schema {
                Some(schema) => read(schema, &chat).map_err(|why| RowError::new(RowErrorKind::BadReply, why))?,
                None => Value::Null,
            };
            Ok(Reply { chat, value, usage })
        })
        .collect())
}

/// The JSON that a reply is, if it is as asked for: nothing is converted, repaired or picked out, of two values of one key
/// either.
fn read(schema: &ReplySchema, reply: &ChatReply) -> Result<Value, String> {
    let UniqueJson(value) = serde_json::from_str(&reply.text).map_err(|error| error.to_string())?;
    reply_rule::check(&schema.schema, &value)?;
    in_order(&value)?;
    Ok(value)
}

/// Verdicts bear the numbers of what they are on: a list that skips one or has one twice tells nothing reliable of any.
fn in_order(value: &Value) -> Result<(), String> {
    for (verdict, number) in value["verdicts"].as_array().into_iter().flatten().zip(1_i64..) {
        for name in ["claim", "passage"] {
            if let Some(found) = verdict[name].as_i64().filter(|found| *found != number) {
                return Err(format!("expected the verdict on {name} {number}, found that on {found}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_says_a_thing_once() {
        let schema = ReplySchema {
            name: "grade",
            schema: json!({"type": "object", "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 4}}}),
        };
        let read = |text: &str| read(&schema, &ChatReply { text: text.to_string(), finish_reason: None, asking: 0 });
        assert_eq!(read(r#"{"score": 4}"#), Ok(json!({"score": 4})));
        assert!(read(r#"{"score": 1, "score": 4}"#).is_err_and(|why| why.contains("score")));
    }
}
