//! How a chat model is asked for answers: what an evaluation file says under `answer` with `provider: openai`.

use std::collections::BTreeMap;
use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::prompt::AnswerPrompt;
use crate::build::chunk::Tokenizer;
use crate::model::{CHAT_VERSION, ChatModel};

/// Version of how passages are picked, prompts are filled and replies are read: bumped when the same options give other
/// requests, or the same replies other answers.
const ANSWER_VERSION: u64 = 1;

/// Options of answers by a chat model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswerOptions {
    /// The model.
    pub model: Arc<ChatModel>,
    /// What it is told and asked.
    pub prompt: AnswerPrompt,
    /// What it is told beside that in cases of a category, by category.
    pub instructions: BTreeMap<String, String>,
    /// What it reads.
    pub context: ContextOptions,
    /// Sampling temperature.
    pub temperature: f64,
    /// Most tokens of an answer.
    pub max_tokens: u32,
    /// Sampling seed of the first sample; each further one has the next.
    pub seed: Option<u64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// How many answers each case is given; at least 1.
    pub samples: u32,
    /// What the model is told to reply where the passages do not hold the answer.
    pub refusal: String,
    /// Whether the model is asked for citations, and these are read.
    pub citations: bool,
}

/// Which passages a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextOptions {
    /// Most tokens of all their texts together.
    pub tokens: u64,
    /// What a token is.
    pub tokenizer: Tokenizer,
    /// Most results that are read.
    pub results: u32,
    /// Most Unicode code points of one result, of which the start is read; no limit where absent.
    pub result_chars: Option<u64>,
}

impl Default for ContextOptions {
    fn default() -> Self {
        ContextOptions { tokens: 2000, tokenizer: Tokenizer::Cl100kBase, results: 10, result_chars: None }
    }
}

impl ChatAnswerOptions {
    /// The defaults, with `model`.
    pub fn new(model: Arc<ChatModel>) -> Self {
        ChatAnswerOptions {
            model,
            prompt: AnswerPrompt::default(),
            instructions: BTreeMap::new(),
            context: ContextOptions::default(),
            temperature: 0.0,
            max_tokens: 512,
            seed: None,
            stop: Vec::new(),
            samples: 1,
            refusal: "I don't know.".to_string(),
            citations: true,
        }
    }
}

impl Walk for ChatAnswerOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("answer", "openai");
        v.uint("answer_version", ANSWER_VERSION);
        v.uint("chat_version", CHAT_VERSION);
        self.model.walk(v);
        v.begin_record("prompt", "prompt");
        v.digest("system", &Digest::of(self.prompt.system.text.as_bytes()));
        v.digest("user", &Digest::of(self.prompt.user.text.as_bytes()));
        v.end();
        v.begin_record("instructions", "instructions");
        for (category, text) in &self.instructions {
            v.text(category, text);
        }
        v.end();
        v.begin_record("context", "context");
        v.uint("tokens", self.context.tokens);
        v.text("tokenizer", self.context.tokenizer.name());
        v.uint("tokenizer_version", self.context.tokenizer.code_version());
        v.uint("results", u64::from(self.context.results));
        if let Some(chars) = self.context.result_chars {
            v.uint("result_chars", chars);
        }
        v.end();
        v.float("temperature", self.temperature);
        v.uint("max_tokens", u64::from(self.max_tokens));
        match self.seed {
            Some(seed) => v.uint("seed", seed),
            None => v.null("seed"),
        }
        v.begin_list("stop", self.stop.len());
        for stop in &self.stop {
            v.text("", stop);
        }
        v.end();
        v.uint("samples", u64::from(self.samples));
        v.text("refusal", &self.refusal);
        v.bool("citations", self.citations);
        v.end();
    }
}
