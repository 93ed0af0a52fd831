//! How a graph is extracted: what an evaluation file says under `recipe.graph`.

use std::sync::Arc;

use ragstage_cache::{KeyVisitor, Walk};

use crate::model::ChatModel;

/// Everything under `recipe.graph`.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphOptions {
    /// Who finds entities and relations.
    pub extractor: GraphExtractor,
}

/// Who finds entities and relations.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphExtractor {
    /// Names and terms by their form and their place; no model.
    Lexical,
    /// A chat model, chunk by chunk.
    Llm(Arc<ChatModel>),
}

impl Walk for GraphOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match &self.extractor {
            GraphExtractor::Lexical => v.begin_record("graph", "lexical"),
            GraphExtractor::Llm(model) => {
                v.begin_record("graph", "llm");
                model.walk(v);
            }
        }
        v.end();
    }
}
