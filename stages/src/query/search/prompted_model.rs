//! A chat model with the prompt that it is asked with.

use std::collections::HashMap;
use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::Serialize;
use serde_json::Value;

use crate::artifact::Hit;
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};
use crate::model::{CHAT_VERSION, ChatModel, ChatRequest, ModelUsage, Prompt, ReplySchema, ask_chat};
use crate::step::Step;

/// A chat model with the prompt that it is asked with.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptedModel {
    /// The model.
    pub model: Arc<ChatModel>,
    /// The prompt; its digest is in the key.
    pub prompt: Prompt,
    /// Most tokens of a reply; in the key.
    pub max_tokens: u32,
}

/// What a model is asked for one case.
pub(super) struct Question<'a> {
    /// What people call the case.
    pub label: &'a str,
    /// What the prompt is filled with.
    pub view: Value,
    /// What the reply must be.
    pub schema: ReplySchema,
}

/// A reply that could be read.
pub(super) struct Reply<T> {
    /// What it says.
    pub value: T,
    /// Tokens and money.
    pub usage: ModelUsage,
    /// Milliseconds that the call took.
    pub latency_ms: f64,
}

/// Reads a reply to question `index`, or says in a lower-case fragment what is wrong with it.
pub(super) type ReadReply<'a, T> = dyn Fn(usize, &str) -> Result<T, String> + Sync + 'a;

impl PromptedModel {
    pub(super) fn walk(&self, name: &str, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "prompted_model");
        v.uint("chat_version", CHAT_VERSION);
        self.model.walk(v);
        v.digest("prompt", self.prompt.digest());
        v.uint("max_tokens", u64::from(self.max_tokens));
        v.end();
    }

    /// What the model replies to each of `questions`, in order; equal requests are one call.
    pub(super) fn ask<T>(
        &self,
        context: &dyn Context,
        questions: &[Question<'_>],
        read: &ReadReply<'_, T>,
    ) -> Result<Vec<Result<Reply<T>, RowError>>, StageError> {
        let mut requests: Vec<(String, ChatRequest)> = Vec::new();
        // Of each request, the first question that it is of.
        let mut firsts: Vec<usize> = Vec::new();
        let mut known: HashMap<Digest, usize> = HashMap::new();
        let mut request_of: Vec<Result<usize, RowError>> = Vec::new();
        for (index, question) in questions.iter().enumerate() {
            let filled = self.prompt.fill(&question.view).map_err(|fault| {
                let line = fault.line.map(|line| format!(" in line {line}")).unwrap_or_default();
                RowError::new(RowErrorKind::Refused, format!("the prompt cannot be filled{line}: {fault}"))
            });
            request_of.push(filled.map(|text| {
                let schema = Some(question.schema.clone());
                let request = ChatRequest { schema, ..ChatRequest::new(None, &text, self.max_tokens) };
                *known.entry(request.key()).or_insert_with(|| {
                    firsts.push(index);
                    requests.push((question.label.to_string(), request));
                    firsts.len() - 1
                })
            }));
        }
        let outcomes = ask_chat(context, Step::Retrieve, &self.model, &requests, &|request, reply| {
            firsts.get(request).map_or(Ok(()), |&first| read(first, &reply.text).map(drop))
        })?;
        let lost = || RowError::new(RowErrorKind::BadReply, "there is no reply");
        let reply = |(index, request): (usize, Result<usize, RowError>)| {
            let outcome = outcomes.get(request?).cloned().ok_or_else(lost)??;
            let value = read(index, &outcome.reply.text).map_err(|why| RowError::new(RowErrorKind::BadReply, why))?;
            Ok(Reply { value, usage: outcome.usage, latency_ms: outcome.latency_ms })
        };
        Ok(request_of.into_iter().enumerate().map(reply).collect())
    }
}

/// A hit as a prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Passage {
    /// From 1.
    pub number: usize,
    /// The start of its text, on one line.
    pub text: String,
}

/// `hits` as a prompt shows them, each with at most `each` characters and all together with at most `all`: the last that
/// fits is cut, and those after it are left out.
pub(super) fn passages(hits: &[Hit], each: usize, all: usize) -> Vec<Passage> {
    let mut left = all;
    let mut passages = Vec::new();
    for (hit, number) in hits.iter().zip(1..) {
        if left == 0 {
            break;
        }
        let line = hit.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: String = line.chars().take(each.min(left)).collect();
        left -= text.chars().count();
        passages.push(Passage { number, text });
    }
    passages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Json;

    #[test]
    fn passages_are_cut_one_by_one_and_all_together() {
        let hit = |text: &str| Hit {
            id: text.to_string(),
            text: text.into(),
            score: None,
            kind: "chunk".to_string(),
            source: Arc::default(),
            metadata: Json::new(),
        };
        let hits = [hit("ships\n unload  grain"), hit("灯塔建于1871年"), hit("tides"), hit("sand")];
        let shown = |each, all| passages(&hits, each, all).into_iter().map(|p| p.text).collect::<Vec<_>>();
        assert_eq!(shown(12, 100), ["ships unload", "灯塔建于1871年", "tides", "sand"]);
        assert_eq!(shown(12, 14), ["ships unload", "灯塔"]);
        assert_eq!(passages(&hits, 3, 100)[3], Passage { number: 4, text: "san".to_string() });
    }
}
