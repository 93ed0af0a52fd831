//! What a mode is once it is opened on a knowledge base.

use serde_json::Value;

use crate::artifact::{Hit, Json};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::ModelUsage;

/// A question to a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The words.
    pub text: &'a str,
    /// How many results are wanted.
    pub top_k: usize,
    /// What people call the case.
    pub label: &'a str,
}

/// What a mode found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits, best first; at most `top_k`.
    pub hits: Vec<Hit>,
    /// What else the mode says of the case; part of the value.
    pub metadata: Json,
    /// What it did, step by step: JSON objects with a `mode` and counts, and no times. Kept where the query asks for it.
    pub trace: Vec<Value>,
    /// Milliseconds: of the case itself, or its share of what was computed for many at once, and of the calls made for it.
    pub latency_ms: f64,
    /// What models took, one entry per model.
    pub usage: Vec<ModelUsage>,
}

/// A mode that is open: asked for many cases at once, so that vectors are compared in blocks and models are asked side by
/// side. What a case gets depends on that case alone.
pub trait Search: Sync {
    /// What is found for each of `asks`, in their order.
    ///
    /// # Errors
    /// When the store or a provider fails as a whole; what fails for one case is that case's error.
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError>;

    /// The same mode asked for one case at a time, where that takes nothing but a processor.
    fn alone(&self) -> Option<&dyn SearchAlone> {
        None
    }
}

/// A mode that needs no other cases and no model to answer one.
pub trait SearchAlone: Sync {
    /// What is found for `ask`.
    ///
    /// # Errors
    /// When it cannot be searched for.
    fn search_one(&self, ask: &Ask<'_>) -> Result<Found, RowError>;
}
