//! Asking the judging model, and holding its replies to what was asked for.

use serde_json::{Value, json};

use super::options::JudgeOptions;
use super::reply_schema::obey;
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{ChatRequest, Prompt, ReplySchema, ask_chat};
use crate::step::Step;
use crate::unique_json::UniqueJson;

const SYSTEM: &str = include_str!("prompts/system.md");
const SCHEMA: &str = include_str!("prompts/schema.md");

/// One question to the model.
pub(super) struct Ask<'a> {
    /// The case, for messages.
    pub(super) case_id: &'a str,
    /// What the model is told.
    pub(super) user: String,
    /// What its reply must obey.
    pub(super) schema: Value,
}

/// A reply that is what was asked for.
pub(super) struct Reply {
    /// The object.
    pub(super) value: Value,
    /// All that the model said.
    pub(super) text: String,
}

/// The model as one sample asks it.
pub(super) struct Panel<'a> {
    pub(super) context: &'a dyn Context,
    pub(super) options: &'a JudgeOptions,
    /// Which of several judgements of the same response this is, from 0.
    pub(super) sample: u32,
}

impl Panel<'_> {
    /// A reply for each of `asks`, in order; one that does not obey its schema is a failure of that response.
    ///
    /// # Errors
    /// As [`ask_chat`].
    pub(super) fn ask(&self, asks: &[Ask<'_>]) -> Result<Vec<Result<Reply, RowError>>, StageError> {
        let strict = |request: &mut ChatRequest, schema: &Value| {
            request.schema = Some(ReplySchema { name: "verdict", schema: schema.clone() });
        };
        let read = |i: usize, text: &str| -> Result<Value, String> {
            let UniqueJson(value) = serde_json::from_str(text).map_err(|error| format!("expected JSON: {error}"))?;
            match asks.get(i) {
                Some(ask) => obey(&ask.schema, &value, "").map(|()| value),
                None => Err("there is no such question".to_string()),
            }
        };
        let replies = self.replies(asks, &strict, &|i, text| read(i, text).map(|_| ()))?;
        let parsed = |(i, reply): (usize, Result<String, RowError>)| match reply {
            Err(error) => Ok(Err(error)),
            Ok(text) => {
                // Refused before it was kept; a kept one that is refused now was kept by other code.
                let value = read(i, &text)
                    .map_err(|why| StageError::encode(Step::Score, format!("a kept reply cannot be read: {why}")))?;
                Ok(Ok(Reply { value, text }))
            }
        };
        replies.into_iter().enumerate().map(parsed).collect()
    }

    /// The words of a reply for each of `asks`, whatever they are.
    ///
    /// # Errors
    /// As [`ask_chat`].
    pub(super) fn ask_for_words(&self, asks: &[Ask<'_>]) -> Result<Vec<Result<String, RowError>>, StageError> {
        self.replies(asks, &|_, _| {}, &|_, _| Ok(()))
    }

    fn replies(
        &self,
        asks: &[Ask<'_>],
        shape: &dyn Fn(&mut ChatRequest, &Value),
        accept: &(dyn Fn(usize, &str) -> Result<(), String> + Sync),
    ) -> Result<Vec<Result<String, RowError>>, StageError> {
        let mut requests = Vec::with_capacity(asks.len());
        for ask in asks {
            let told = Prompt::new(SCHEMA).fill(&json!({"schema": ask.schema.to_string()}));
            let told = told.map_err(|fault| StageError::encode(Step::Score, fault))?;
            let user = format!("{}\n\n{told}", ask.user);
            let mut request = ChatRequest::new(Some(SYSTEM.trim()), &user, self.options.max_tokens);
            request.temperature = self.options.temperature;
            request.further_times = self.options.further_times;
            request.sample = self.sample;
            // The first judgement is the one of a judge that judges once.
            request.seed = (self.sample > 0).then(|| u64::from(self.sample));
            shape(&mut request, &ask.schema);
            requests.push((ask.case_id.to_string(), request));
        }
        let model = &self.options.model;
        let outcomes = ask_chat(self.context, Step::Score, model, &requests, &|i, reply| accept(i, &reply.text))?;
        Ok(outcomes.into_iter().map(|outcome| outcome.map(|outcome| outcome.reply.text)).collect())
    }

    /// The judge's prompt filled with `view`.
    ///
    /// # Errors
    /// When the template does not take a case that its example did not show.
    pub(super) fn fill(&self, view: &Value) -> Result<String, RowError> {
        let fault = |fault: crate::model::PromptFault| {
            RowError::new(crate::error::RowErrorKind::Evaluator, format!("the judge's prompt: {fault}"))
        };
        self.options.prompt.fill(view).map_err(fault)
    }
}
