//! Asking a chat model.

use std::time::Instant;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chat_model::ChatModel;
use super::json_client::JsonClient;
use super::json_reply::{bad_reply, excerpt};
use super::usage::{ModelUsage, Usage, UsageSource};
use crate::build::chunk::Tokenizer;
use crate::contract::{Call, Context, Cost, Pool, Row, RowBatch, RowItem, RowOutcome, Spend};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Version of what is sent for a request and of how the reply is read, in the key of every reply.
pub(crate) const CHAT_VERSION: u64 = 1;

/// Whose words a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What the model is told to do.
    System,
    /// What it is asked.
    User,
    /// What it replied.
    Assistant,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Whose.
    pub role: Role,
    /// The words.
    pub content: String,
}

/// What a reply must be: JSON that obeys a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplySchema {
    /// The schema's name, sent along.
    pub name: &'static str,
    /// The JSON Schema.
    pub schema: Value,
}

/// One request to a chat model; all of it is in the reply's key.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The messages.
    pub messages: Vec<Message>,
    /// Most tokens that are written.
    pub max_tokens: u32,
    /// Sampling temperature.
    pub temperature: f64,
    /// Sampling seed, where one is sent.
    pub seed: Option<u64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// What the reply must be; any text when `None`.
    pub schema: Option<ReplySchema>,
    /// Which of several samples of the same request this is, from 0.
    pub sample: u32,
    /// 0, or what `--force` puts into the key, so that the request is sent again.
    pub salt: u64,
}

impl ChatRequest {
    /// A request of one user message after an optional system message, at temperature 0.
    pub fn new(system: Option<&str>, user: &str, max_tokens: u32) -> Self {
        let message = |role, content: &str| Message { role, content: content.to_string() };
        let mut messages: Vec<Message> = system.map(|text| message(Role::System, text)).into_iter().collect();
        messages.push(message(Role::User, user));
        ChatRequest {
            messages,
            max_tokens,
            temperature: 0.0,
            seed: None,
            stop: Vec::new(),
            schema: None,
            sample: 0,
            salt: 0,
        }
    }

    /// The key of its reply, beside the model's identity.
    pub fn key(&self) -> Digest {
        let mut hasher = ragstage_cache::KeyHasher::new();
        let v: &mut dyn KeyVisitor = &mut hasher;
        v.begin_record("", "ragstage.chat.request");
        v.begin_list("messages", self.messages.len());
        for message in &self.messages {
            v.text("", &format!("{:?}", message.role));
            v.text("", &message.content);
        }
        v.end();
        v.uint("max_tokens", u64::from(self.max_tokens));
        v.float("temperature", self.temperature);
        v.uint("seed", self.seed.map_or(0, |seed| seed.wrapping_add(1)));
        v.begin_list("stop", self.stop.len());
        for stop in &self.stop {
            v.text("", stop);
        }
        v.end();
        if let Some(schema) = &self.schema {
            v.text("schema_name", schema.name);
            ragstage_cache::key::walk_json(v, "schema", &schema.schema);
        }
        v.uint("sample", u64::from(self.sample));
        if self.salt != 0 {
            v.uint("salt", self.salt);
        }
        v.end();
        hasher.finish()
    }

    fn body(&self, model: &ChatModel) -> Value {
        let mut body = json!({
            "model": model.model,
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        });
        let mut put = |key: &str, value: Value| body.as_object_mut().map(|map| map.insert(key.to_string(), value));
        if let Some(seed) = self.seed {
            put("seed", seed.into());
        }
        if !self.stop.is_empty() {
            put("stop", json!(self.stop));
        }
        if let Some(schema) = self.schema.as_ref().filter(|_| model.structured) {
            put(
                "response_format",
                json!({"type": "json_schema",
                       "json_schema": {"name": schema.name, "strict": true, "schema": schema.schema}}),
            );
        }
        body
    }
}

/// What a chat model replied: the value that the row cache keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The words.
    pub text: String,
    /// Why it ended: `stop`, `length`, ...
    #[serde(default)]
    pub finish_reason: Option<String>,
}

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
    /// Billionths of a US dollar at the price of the run that asked.
    #[serde(default)]
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
            prompt_tokens: prompt_tokens(request),
            completion_tokens: u64::from(request.max_tokens),
            source: UsageSource::Counted,
        };
        self.model.price.spend(&usage)
    }

    fn of(&self, row: &Row) -> Spend {
        observed(row).map(|observed| self.model.price.spend(&observed.usage)).unwrap_or_default()
    }
}

fn observed(row: &Row) -> Option<Observed> {
    serde_json::from_slice(&row.observation).ok()
}

/// Four tokens frame each message in OpenAI's chat format, and three open the reply (OpenAI cookbook, "How to count tokens
/// with tiktoken").
fn prompt_tokens(request: &ChatRequest) -> u64 {
    request.messages.iter().map(|message| Tokenizer::Cl100kBase.count(&message.content) + 4).sum::<u64>() + 3
}

/// The reply to each of `requests` (with a label for people), in order: from the row cache, else asked for.
///
/// `accept` looks at a reply before it is kept: what it refuses is a `bad_reply` of that row, and is not kept. A reply with a
/// [`ReplySchema`] that is no JSON object is refused before.
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
    let batch = RowBatch { slot: &Slot(model), pool: Pool::Llm, items: &items, cost: &cost };
    let outcomes = context.rows(batch, &|index, call| match requests.get(index) {
        Some((_, request)) => ask(&client, model, request, call, &|reply| accept(index, reply)),
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
                        calls: 1,
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

fn ask(
    client: &JsonClient,
    model: &ChatModel,
    request: &ChatRequest,
    call: &Call,
    accept: &dyn Fn(&ChatReply) -> Result<(), String>,
) -> Result<Row, RowError> {
    let fault = |error: serde_json::Error| bad_reply(format!("the request is no JSON: {error}"));
    let body = serde_json::to_vec(&request.body(model)).map_err(fault)?;
    let start = Instant::now();
    let value = client.post(&body, call.timeout)?;
    let latency_ms = start.elapsed().as_secs_f64() * 1e3;
    let reply = reply_of(&value)?;
    let usage = usage_of(&value).unwrap_or_else(|| Usage {
        prompt_tokens: prompt_tokens(request),
        completion_tokens: Tokenizer::Cl100kBase.count(&reply.text),
        source: UsageSource::Counted,
    });
    // Paid for, whatever becomes of it.
    let spend = model.price.spend(&usage);
    call.meter.add(spend);
    if request.schema.is_some() && !serde_json::from_str::<Value>(&reply.text).is_ok_and(|value| value.is_object()) {
        let cut = if reply.finish_reason.as_deref() == Some("length") { " (cut at max_tokens)" } else { "" };
        return Err(bad_reply(format!("expected a JSON object{cut}, found {}", excerpt(&reply.text))));
    }
    accept(&reply).map_err(bad_reply)?;
    let observed = Observed { usage, latency_ms, attempts: call.attempt, nano_usd: spend.nano_usd };
    Ok(Row {
        value: serde_json::to_vec(&reply).map_err(fault)?,
        observation: serde_json::to_vec(&observed).map_err(fault)?,
    })
}

/// The first choice's message.
fn reply_of(value: &Value) -> Result<ChatReply, RowError> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(match value.get("error") {
            Some(error) => {
                RowError::new(RowErrorKind::Refused, format!("the model says: {}", excerpt(&error.to_string())))
            }
            None => bad_reply(format!("expected `choices` with one choice, found {}", excerpt(&value.to_string()))),
        });
    };
    match choice.pointer("/message/content") {
        Some(Value::String(text)) => Ok(ChatReply {
            text: text.clone(),
            finish_reason: choice.get("finish_reason").and_then(Value::as_str).map(str::to_string),
        }),
        _ => Err(bad_reply(format!(
            "expected a text at choices[0].message.content, found {}",
            excerpt(&choice.to_string())
        ))),
    }
}

fn usage_of(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    Some(Usage {
        prompt_tokens: usage.get("prompt_tokens")?.as_u64()?,
        completion_tokens: usage.get("completion_tokens").and_then(Value::as_u64).unwrap_or(0),
        source: UsageSource::Server,
    })
}
