//! How a graph is extracted: what an evaluation file says under `recipe.graph`.

use std::sync::Arc;

use ragstage_cache::key::walk_texts;
use ragstage_cache::{KeyVisitor, Walk};

use super::lexical::LEXICAL_VERSION;
use super::prompt::prompt_digest;
use crate::model::{CHAT_VERSION, ChatModel};

/// Everything under `recipe.graph`.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphOptions {
    /// Who finds entities and relations.
    pub extractor: GraphExtractor,
    /// Most entities of a chunk.
    pub max_entities: u32,
}

/// Most entities of a chunk, where the evaluation file does not say.
pub const DEFAULT_MAX_ENTITIES: u32 = 24;

/// Most tokens of a model's reply, where the evaluation file does not say.
pub const DEFAULT_MAX_TOKENS: u32 = 1024;

/// Who finds entities and relations.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphExtractor {
    /// Names and terms by their form and their place; no model.
    Lexical,
    /// A chat model, chunk by chunk.
    Llm(LlmExtractor),
}

/// A chat model that reads chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmExtractor {
    /// The model.
    pub model: Arc<ChatModel>,
    /// Most tokens of a reply.
    pub max_tokens: u32,
    /// The types that entities may have; any where empty.
    pub entity_types: Vec<String>,
}

impl Walk for GraphOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match &self.extractor {
            GraphExtractor::Lexical => {
                v.begin_record("graph", "lexical");
                v.uint("lexical_version", LEXICAL_VERSION);
            }
            GraphExtractor::Llm(llm) => {
                v.begin_record("graph", "llm");
                v.uint("chat_version", CHAT_VERSION);
                llm.model.walk(v);
                v.digest("prompt", &prompt_digest());
                v.uint("max_tokens", u64::from(llm.max_tokens));
                walk_texts(v, "entity_types", &llm.entity_types);
            }
        }
        v.uint("max_entities", u64::from(self.max_entities));
        v.end();
    }
}
