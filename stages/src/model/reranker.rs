//! Rerankers behind a `/v1/rerank` endpoint.

use ragstage_cache::{KeyVisitor, Walk};

use super::endpoint::Endpoint;
use super::price::Price;
use super::usage::ModelUsage;
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::step::Step;

/// A cross-encoder behind `/v1/rerank`, as vLLM, TEI, Jina and Cohere serve it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranker {
    /// The model's own name, sent along; in the key.
    pub model: String,
    /// Where it is served; its label is in the key.
    pub endpoint: Endpoint,
    /// What it costs. In no key.
    pub price: Price,
}

impl Walk for Reranker {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("reranker", "reranker");
        v.text("model", &self.model);
        v.text("endpoint", &self.endpoint.label);
        v.end();
    }
}

/// One query with its candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankRequest {
    /// The query.
    pub query: String,
    /// The candidates' texts.
    pub texts: Vec<String>,
}

/// A score for each candidate, in their order, and what was observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Higher is better; one per candidate.
    pub scores: Vec<f64>,
    /// Tokens and money.
    pub usage: ModelUsage,
    /// Milliseconds that the call took.
    pub latency_ms: f64,
}

/// The ranking of each of `requests` (with a label for people), in order: from the row cache, else asked for.
///
/// # Errors
/// As [`Context::rows`], and when the endpoint cannot be used at all.
pub fn rerank(
    _context: &dyn Context,
    step: Step,
    _reranker: &Reranker,
    _requests: &[(String, RerankRequest)],
) -> Result<Vec<Result<Ranking, RowError>>, StageError> {
    Err(StageError::encode(step, "not merged yet"))
}
