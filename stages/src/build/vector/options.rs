//! How vectors are compared: what an evaluation file says under `recipe.vector`.

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// What "near" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The cosine of the angle; 0 where a vector is all zeros.
    #[default]
    Cosine,
    /// The dot product.
    Dot,
    /// The Euclidean distance, negated.
    L2,
}

/// How the nearest are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorIndexKind {
    /// Every vector is compared.
    #[default]
    Exact,
    /// A graph of near neighbours is followed (HNSW): not exact, and said so.
    Hnsw,
}

/// Everything under `recipe.vector`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VectorOptions {
    /// What "near" means.
    pub metric: Metric,
    /// How the nearest are found.
    pub index: VectorIndexKind,
}

impl Walk for VectorOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("vector", "vector_options");
        v.text(
            "metric",
            match self.metric {
                Metric::Cosine => "cosine",
                Metric::Dot => "dot",
                Metric::L2 => "l2",
            },
        );
        v.text(
            "index",
            match self.index {
                VectorIndexKind::Exact => "exact",
                VectorIndexKind::Hnsw => "hnsw",
            },
        );
        v.end();
    }
}
