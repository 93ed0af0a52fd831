//! A chat model behind an OpenAI-compatible endpoint.

use ragstage_cache::{KeyVisitor, Walk};

use super::endpoint::Endpoint;
use super::price::Price;

/// A chat model, as an entry of `models` in an evaluation file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatModel {
    /// What the evaluation file calls it. In no key.
    pub name: String,
    /// The model's own name, sent along; in the key.
    pub model: String,
    /// Where it is served; its label is in the key.
    pub endpoint: Endpoint,
    /// Whether the server takes `response_format: json_schema`; in the key, since replies differ by it.
    pub structured: bool,
    /// What it costs. In no key.
    pub price: Price,
}

impl Walk for ChatModel {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("model", "chat_model");
        v.text("name", &self.model);
        v.text("endpoint", &self.endpoint.label);
        v.bool("structured", self.structured);
        v.end();
    }
}
