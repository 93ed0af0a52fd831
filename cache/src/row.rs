//! One row of a row cache.

/// What a stage computed, or a model answered, for one item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredRow {
    /// What is hashed and drives downstream keys.
    pub value: Vec<u8>,
    /// What is stored beside it and never hashed: latency, tokens, cost, attempts.
    pub observation: Vec<u8>,
}
