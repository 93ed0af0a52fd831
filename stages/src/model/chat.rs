//! Asking a chat model.

use std::time::Instant;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::chat_model::ChatModel;
use super::chat_reply::{ChatReply, stated_usage};
use super::chat_request::ChatRequest;
use super::json_client::JsonClient;
use super::json_reply::{bad_reply, json, stated_error};
use super::usage::{ModelUsage, Usage, UsageSource};
use crate::build::chunk::Tokenizer;
use crate::contract::{Call, Context, Cost, Pool, Row, RowBatch, RowItem, RowOutcome, Spend};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Version of what is sent for a request and of what is read from its reply, in the key of every reply.
pub(crate) const CHAT_VERSION: u64 = 1;

/// A reply, and what was observed of it when it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The reply.
    pub reply: ChatReply,
    /// Tokens and money.
    pub usage: ModelUsage,
    /// Milliseconds that the call took.
    pub latency_ms: f64,
    /// How many attempts it took.
    pub attempts: u32,
}

#[derive(Serialize, Deserialize)]
struct Observed {
    usage: Usage,
    latency_ms: f64,
    attempts: u32,
    /// Requests that were answered: more than one where replies did not fit the schema.
    calls: u32,
    /// Billionths of a US dollar at the price of the run that asked.
    nano_usd: u64,
}

struct Slot<'a>(&'a ChatModel);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "ragstage.chat");
        v.uint("chat_version", CHAT_VERSION);
        self.0.walk(v);
        v.end();
    }
}

struct ChatCost<'a> {
    model: &'a ChatModel,
    requests: &'a [(String, ChatRequest)],
}

impl Cost for ChatCost<'_> {
    fn estimate(&self, item: usize) -> Spend {
        let Some((_, request)) = self.requests.get(item) else { return Spend::default() };
        let usage = Usage {
            prompt_tokens: request.prompt_tokens(),
            completion_tokens: u64::from(request.max_tokens),
            source: UsageSource::Counted,
        };
        (0..request.times()).fold(Spend::default(), |sum, _| sum.plus(self.model.price.spend(&usage)))
    }

    fn of(&self, row: &Row) -> Spend {
        observed(row).map(|observed| self.model.price.spend(&observed.usage)).unwrap_or_default()
    }
}

fn observed(row: &Row) -> Option<Observed> {
    serde_json::from_slice(&row.observation).ok()
}

/// The reply to each of `requests` (with a label for people), in order: from the row cache, else asked for.
///
/// `accept` looks at a reply before it is kept: what it refuses is a `bad_reply` of that row, and is not kept. A reply with a
/// [`ReplySchema`](super::ReplySchema) that is no JSON object is refused before. A reply that does not fit its schema, by
/// either, is asked for again, up to [`ChatRequest::attempts`] times, each with another seed, unless it was cut off at `max_tokens`; all of them are
/// paid for and metered. A model without structured output may put its JSON into a fence of Markdown, which is taken off.
///
/// # Errors
/// As [`Context::rows`], and when the endpoint cannot be used at all.
pub fn ask_chat(
    context: &dyn Context,
    step: Step,
    model: &ChatModel,
    requests: &[(String, ChatRequest)],
    accept: &(dyn Fn(usize, &ChatReply) -> Result<(), String> + Sync),
) -> Result<Vec<Result<Outcome, RowError>>, StageError> {
    let provider = |why: String| StageError { step, kind: StageErrorKind::Provider(why) };
    let client = model.endpoint.client(&format!("model {}", model.name), "chat/completions").map_err(provider)?;
    let keys: Vec<Digest> = requests.iter().map(|(_, request)| request.key()).collect();
    let items: Vec<RowItem<'_>> =
        requests.iter().zip(&keys).map(|((label, _), key)| RowItem { key: *key, label }).collect();
    let cost = ChatCost { model, requests };
    // Judges have limits of their own, so that scoring does not hold up answering.
    let pool = if step == Step::Score { Pool::Judge } else { Pool::Llm };
    let batch = RowBatch { slot: &Slot(model), pool, items: &items, cost: &cost };
    let outcomes = context.rows(batch, &|index, call| match requests.get(index) {
        Some((_, request)) => {
            let conversation = Conversation { client: &client, model, request, call };
            conversation.ask(&|reply| accept(index, reply)).map_err(|error| client.masked(error))
        }
        None => Err(bad_reply(format!("there is no request {index}"))),
    })?;
    outcomes
        .into_iter()
        .zip(&keys)
        .map(|(outcome, key)| match outcome {
            RowOutcome::Failed(error) => Ok(Err(error)),
            RowOutcome::Done(row) => {
                let reply: ChatReply = serde_json::from_slice(&row.value).map_err(|error| StageError {
                    step,
                    kind: StageErrorKind::Artifact { digest: *key, why: format!("is no chat reply: {error}") },
                })?;
                let seen = observed(&row);
                let usage = seen.as_ref().map(|seen| seen.usage).unwrap_or_default();
                Ok(Ok(Outcome {
                    reply,
                    usage: ModelUsage {
                        model: model.name.clone(),
                        calls: seen.as_ref().map_or(1, |seen| u64::from(seen.calls)),
                        usage,
                        nano_usd: seen.as_ref().map_or(0, |seen| seen.nano_usd),
                    },
                    latency_ms: seen.as_ref().map_or(0.0, |seen| seen.latency_ms),
                    attempts: seen.as_ref().map_or(1, |seen| seen.attempts),
                }))
            }
        })
        .collect()
}

/// One row: a request, and what is asked until a reply fits.
struct Conversation<'a> {
    client: &'a JsonClient,
    model: &'a ChatModel,
    request: &'a ChatRequest,
    call: &'a Call,
}

impl Conversation<'_> {
    fn ask(&self, accept: &dyn Fn(&ChatReply) -> Result<(), String>) -> Result<Row, RowError> {
        let start = Instant::now();
        let mut usage: Option<Usage> = None;
        let mut misfit: Option<String> = None;
        for again in 0..self.request.times() {
            let (reply, spent) = match self.request_once(again) {
                Ok(answered) => answered,
                // Whether a server can be reached is news; that it does not take a seed hides what was wrong before.
                Err(error) if error.kind.retryable() || error.kind == RowErrorKind::Auth => return Err(error),
                Err(error) => return Err(misfit.map_or(error, bad_reply)),
            };
            let usage = *usage.insert(usage.map_or(spent, |sum| sum.plus(spent)));
            let cut = reply.cut();
            match self.fitting(reply, accept) {
                Ok(reply) => {
                    let reply = ChatReply { asking: again, ..reply };
                    let observed = Observed {
                        usage,
                        latency_ms: start.elapsed().as_secs_f64() * 1e3,
                        attempts: self.call.attempt.saturating_add(again),
                        calls: again + 1,
                        nano_usd: self.model.price.spend(&usage).nano_usd,
                    };
                    return row(&reply, &observed);
                }
                Err(why) => misfit = Some(why),
            }
            if cut {
                break;
            }
        }
        Err(bad_reply(misfit.unwrap_or_default()))
    }

    /// Asks once, and says what that took.
    fn request_once(&self, again: u32) -> Result<(ChatReply, Usage), RowError> {
        let body = serde_json::to_vec(&self.request.body(self.model, again)).map_err(no_json)?;
        let bytes = self.client.post_for_bytes(&body, self.call.timeout).map_err(|error| self.explained(error))?;
        let counted = |text: &str| Usage {
            prompt_tokens: self.request.prompt_tokens(),
            completion_tokens: Tokenizer::Cl100kBase.count(text),
            source: UsageSource::Counted,
        };
        // What came with a status of success is paid for, whatever becomes of it; but not where it says that it failed.
        let meter = |usage: Usage| self.call.meter.add(self.model.price.spend(&usage));
        let value = json(&bytes).inspect_err(|_| meter(counted("")))?;
        let reply = ChatReply::of(&value);
        let usage = stated_usage(&value);
        match (usage, &reply) {
            (Some(usage), _) => meter(usage),
            (None, Ok(reply)) => meter(counted(&reply.text)),
            (None, Err(_)) if stated_error(&value).is_some() => {}
            (None, Err(_)) => meter(counted("")),
        }
        let reply = reply?;
        self.client.refuse_secrets(&value)?;
        let usage = usage.unwrap_or_else(|| counted(&reply.text));
        Ok((reply, usage))
    }

    /// `error`, with what to do where the server takes no schema of replies.
    fn explained(&self, error: RowError) -> RowError {
        let told = error.message.to_ascii_lowercase();
        let asked = self.request.schema.is_some() && self.model.structured && error.kind == RowErrorKind::Refused;
        match asked && (told.contains("response_format") || told.contains("schema")) {
            true => RowError { message: format!("{} (say `structured: false` of the model)", error.message), ..error },
            false => error,
        }
    }

    /// The reply as it is kept, or what is wrong with it.
    fn fitting(
        &self,
        reply: ChatReply,
        accept: &dyn Fn(&ChatReply) -> Result<(), String>,
    ) -> Result<ChatReply, String> {
        let reply = match self.request.schema {
            Some(_) => reply.into_json(!self.model.structured)?,
            None => reply,
        };
        accept(&reply)?;
        Ok(reply)
    }
}

fn row(reply: &ChatReply, observed: &Observed) -> Result<Row, RowError> {
    Ok(Row {
        value: serde_json::to_vec(reply).map_err(no_json)?,
        observation: serde_json::to_vec(observed).map_err(no_json)?,
    })
}

fn no_json(error: serde_json::Error) -> RowError {
    bad_reply(format!("cannot be written as JSON: {error}"))
}
