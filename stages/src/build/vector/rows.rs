//! Vectors that are compared with one another.

use super::options::Metric;
use super::similarity::score;

/// Vectors, row after row, and what near means among them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// What near means.
    pub metric: Metric,
    /// Numbers per vector.
    pub dimensions: usize,
    /// All vectors.
    pub matrix: &'a [f32],
    /// The length of each.
    pub norms: &'a [f64],
}

impl<'a> Rows<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Vector `row`; empty where there is none.
    pub fn vector(&self, row: usize) -> &'a [f32] {
        let start = row.saturating_mul(self.dimensions);
        self.matrix.get(start..start.saturating_add(self.dimensions)).unwrap_or_default()
    }

    /// The length of vector `row`.
    pub fn norm(&self, row: usize) -> f64 {
        self.norms.get(row).copied().unwrap_or_default()
    }

    /// The score of vector `row` for a query of length `norm`.
    pub fn score(&self, query: &[f32], norm: f64, row: usize) -> f64 {
        score(self.metric, query, norm, self.vector(row), self.norm(row))
    }
}
