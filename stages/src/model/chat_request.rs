//! What a chat model is asked.

use ragstage_cache::{Digest, KeyVisitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chat_model::ChatModel;
use crate::build::chunk::Tokenizer;

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

impl Role {
    /// Its name in requests and keys.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
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

/// One request to a chat model; all of it but `attempts` is in the reply's key.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The messages.
    pub messages: Vec<Message>,
    /// Most tokens that are written. Sent as `max_tokens`, which every server knows but OpenAI's own reasoning models, who
    /// want `max_completion_tokens` and refuse the request.
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
    /// How often it is asked at most until a reply fits its schema; at least once. A reply that was kept fits, however often
    /// it took.
    pub attempts: u32,
}

/// How often a reply that does not fit its schema is asked for where nothing else is said.
const ATTEMPTS: u32 = 3;

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
            attempts: ATTEMPTS,
        }
    }

    /// How often it is asked at most: without a schema every reply fits.
    pub(super) fn times(&self) -> u32 {
        if self.schema.is_some() { self.attempts.max(1) } else { 1 }
    }

    /// The key of its reply, beside the model's identity.
    pub fn key(&self) -> Digest {
        let mut hasher = ragstage_cache::KeyHasher::new();
        let v: &mut dyn KeyVisitor = &mut hasher;
        v.begin_record("", "ragstage.chat.request");
        v.begin_list("messages", self.messages.len());
        for message in &self.messages {
            v.text("", message.role.name());
            v.text("", &message.content);
        }
        v.end();
        v.uint("max_tokens", u64::from(self.max_tokens));
        v.float("temperature", self.temperature);
        if let Some(seed) = self.seed {
            v.uint("seed", seed);
        }
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

    /// The JSON that is sent the `again`th time after the first (0) to `model`. Another time has another seed, so that a
    /// server that samples may say something else.
    pub(super) fn body(&self, model: &ChatModel, again: u32) -> Value {
        let mut body = json!({
            "model": model.model,
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        });
        let mut put = |key: &str, value: Value| body.as_object_mut().map(|map| map.insert(key.to_string(), value));
        let seed = match again {
            0 => self.seed,
            _ => Some(self.seed.unwrap_or(0).wrapping_add(u64::from(again))),
        };
        if let Some(seed) = seed {
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

    /// Its tokens, as counted here. Four tokens frame each message in OpenAI's chat format, and three open the reply (OpenAI
    /// cookbook, "How to count tokens with tiktoken").
    pub(super) fn prompt_tokens(&self) -> u64 {
        self.messages.iter().map(|message| Tokenizer::Cl100kBase.count(&message.content) + 4).sum::<u64>() + 3
    }
}
