//! The nodes of one evaluation.

use std::sync::Arc;

use super::node::{NodeId, ResponseNodes};

/// The nodes of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct EvaluationNodes {
    /// Its `prepare`.
    pub prepare: Option<NodeId>,
    /// Its responses and scores.
    pub responses: Arc<Vec<ResponseNodes>>,
    /// Its `aggregate`.
    pub aggregate: Option<NodeId>,
    /// Its `report`.
    pub report: Option<NodeId>,
    /// All of them, each once, in graph order.
    pub members: Vec<NodeId>,
}
