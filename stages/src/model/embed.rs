//! Texts to vectors, each text once per embedder.

use std::sync::Arc;

use super::embedder::EmbedderSpec;
use super::usage::ModelUsage;
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::step::Step;

/// What a text is to its embedder: some models take a prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// What is searched for.
    Query,
    /// What is found.
    Passage,
}

/// A text's vector, and what was observed when it was made.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The vector.
    pub vector: Arc<[f32]>,
    /// Tokens and money, where a server was asked.
    pub usage: Option<ModelUsage>,
    /// Milliseconds: its share of the call that made it.
    pub latency_ms: f64,
}

/// The vector of each of `texts` (with a label for people), in order: from the row cache, else embedded.
///
/// # Errors
/// As [`Context::rows`], and when the model's files or its endpoint cannot be used at all.
pub fn embed_texts(
    _context: &dyn Context,
    step: Step,
    _embedder: &EmbedderSpec,
    _role: TextRole,
    _texts: &[(&str, &str)],
) -> Result<Vec<Result<Embedded, RowError>>, StageError> {
    Err(StageError::encode(step, "not merged yet"))
}
