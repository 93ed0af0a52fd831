//! How vectors are compared: what an evaluation file says under `recipe.vector`.

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::hnsw::HNSW_VERSION;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorOptions {
    /// What "near" means.
    pub metric: Metric,
    /// How the nearest are found.
    pub index: VectorIndexKind,
    /// Vectors below which [`VectorIndexKind::Hnsw`] compares every vector all the same; in the key of such an index only.
    pub min_rows: u32,
}

impl Default for VectorOptions {
    fn default() -> Self {
        VectorOptions { metric: Metric::default(), index: VectorIndexKind::default(), min_rows: 50_000 }
    }
}

impl Metric {
    /// Its name in evaluation files, keys and traces.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Cosine => "cosine",
            Metric::Dot => "dot",
            Metric::L2 => "l2",
        }
    }
}

impl Walk for VectorOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("vector", "vector_options");
        v.text("metric", self.metric.name());
        v.text(
            "index",
            match self.index {
                VectorIndexKind::Exact => "exact",
                VectorIndexKind::Hnsw => "hnsw",
            },
        );
        if self.index == VectorIndexKind::Hnsw {
            v.uint("min_rows", u64::from(self.min_rows));
            v.uint("hnsw_version", HNSW_VERSION);
        }
        v.end();
    }
}
