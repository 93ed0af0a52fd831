//! The nearest vectors, exactly: every vector is compared with every query.
//!
//! In two passes. A blocked matrix product in `f32` gives rough scores, whose sums come in whatever order is fastest on this
//! machine. What cannot be left out by them is scored again in `f64` ([`super::similarity`]), and that score alone ranks. A
//! vector is left out when it is further below the `top_k`-th rough score than rounding can explain: a dot product of `d`
//! products is off by at most `d * 2^-24 * |a| * |b|` (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1), in any
//! order of sums. So results are those of a comparison in `f64`, on every machine and whatever else is asked for in the batch.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul};
use rayon::prelude::*;

use super::neighbour::Neighbour;
use super::options::Metric;
use super::rows::Rows;
use super::shortlist::{Shortlist, rules_out};
use super::similarity::{norm, rough_dot};

/// Rows of one product: with their scores they fit into a core's cache.
const BLOCK_ROWS: usize = 1024;
/// Queries of one product.
const BLOCK_QUERIES: usize = 256;
/// So few queries are compared row by row: a product would first copy all rows into another order.
const FEW_QUERIES: usize = 4;
/// Scores that are compared with the threshold at once.
const LANES: usize = 16;

/// Lengths between which no sum of squares or products leaves what `f32` can hold. Vectors outside are always scored again.
const PLAIN: Range<f64> = 1e-15..1e15;

/// Vectors that can be searched.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'a> {
    /// The vectors.
    pub rows: Rows<'a>,
    /// The text of each, ascending.
    pub texts: &'a [u32],
    /// What of rough scores depends on them alone.
    pub scales: &'a RowScales,
}

/// What is looked for: a vector, and how many neighbours of it are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The vector.
    pub vector: &'a [f32],
    /// How many at most.
    pub top_k: usize,
}

/// A query made ready: its rough scores are `product * scale + offset`, where only `product` depends on the query.
struct Query<'a> {
    wanted: Wanted<'a>,
    norm: f64,
    /// What is multiplied with the rows.
    factor: Vec<f32>,
    /// How far below another a rough score must be to be lower.
    margin: f32,
}

/// What of rough scores depends on the rows alone. Rows that are always scored again have scales that are no numbers.
pub(super) struct RowScales {
    scale: Vec<f32>,
    offset: Vec<f32>,
    /// The greatest length among the others.
    longest: f64,
}

fn plain(norm: f64) -> bool {
    norm == 0.0 || PLAIN.contains(&norm)
}

impl RowScales {
    /// Those of vectors of some lengths.
    pub fn new(metric: Metric, norms: &[f64]) -> Self {
        let scale = norms.iter().map(|norm| match metric {
            _ if !plain(*norm) => f32::NAN,
            Metric::Cosine if *norm == 0.0 => 0.0,
            Metric::Cosine => (1.0 / norm) as f32,
            Metric::Dot | Metric::L2 => 1.0,
        });
        let offset = norms.iter().map(|norm| match metric {
            Metric::L2 => -(norm * norm) as f32,
            Metric::Cosine | Metric::Dot => 0.0,
        });
        let longest = norms.iter().copied().filter(|norm| plain(*norm)).fold(0.0, f64::max);
        RowScales { scale: scale.collect(), offset: offset.collect(), longest }
    }
}

impl Vectors<'_> {
    /// The nearest of each of `wanted`, best first. Vectors of another length find nothing.
    pub fn nearest(&self, wanted: &[Wanted<'_>]) -> Vec<Vec<Neighbour>> {
        let found = wanted.chunks(BLOCK_QUERIES).flat_map(|wanted| {
            let queries: Vec<Query<'_>> = wanted.iter().map(|wanted| self.query(*wanted)).collect();
            self.of_block(&queries)
        });
        found.collect()
    }

    /// The best `top_k` of some rows, best first.
    pub fn best(&self, query: &[f32], norm: f64, top_k: usize, rows: &[u32]) -> Vec<Neighbour> {
        let scored = |row: &u32| {
            let text = *self.texts.get(*row as usize)?;
            Some(Neighbour { text, score: self.rows.score(query, norm, *row as usize) })
        };
        let mut found: Vec<Neighbour> = rows.iter().filter_map(scored).collect();
        found.sort_unstable_by(Neighbour::order);
        found.truncate(top_k);
        found
    }

    fn query<'a>(&self, wanted: Wanted<'a>) -> Query<'a> {
        let norm = norm(wanted.vector);
        // Cosine and dot product rank alike for a query of length 1. -|q - r|^2 = 2 q r - |r|^2 - |q|^2.
        let factor = match self.rows.metric {
            Metric::L2 if plain(norm) => 2.0,
            Metric::L2 => f64::NAN,
            Metric::Cosine | Metric::Dot if norm == 0.0 => 0.0,
            Metric::Cosine | Metric::Dot => 1.0 / norm,
        };
        let greatest = match self.rows.metric {
            Metric::Cosine => 1.0,
            Metric::Dot => self.scales.longest,
            Metric::L2 => self.scales.longest * (2.0 * norm + self.scales.longest),
        };
        // A few roundings more than those of the sum: of the factor, the scale and the offset. Twice, since both scores that
        // are compared are off; and a little more, for this is computed with roundings too.
        let off = (self.rows.dimensions + 8) as f64 * f64::from(f32::EPSILON) / 2.0;
        let margin = (2.02 * off * greatest) as f32;
        let numbers = wanted.vector.iter().map(|number| (f64::from(*number) * factor) as f32);
        Query { wanted, norm, factor: numbers.collect(), margin: margin.max(f32::MIN_POSITIVE) }
    }

    fn of_block(&self, queries: &[Query<'_>]) -> Vec<Vec<Neighbour>> {
        let rows = self.texts.len();
        let per_span = rows.div_ceil(rayon::current_num_threads().max(1)).next_multiple_of(BLOCK_ROWS).max(1);
        let spans: Vec<Range<usize>> =
            (0..rows).step_by(per_span).map(|start| start..(start + per_span).min(rows)).collect();
        let lists: Vec<Vec<Shortlist>> = spans.into_par_iter().map(|span| self.shortlists(queries, span)).collect();
        queries
            .par_iter()
            .enumerate()
            .map(|(position, query)| {
                let lists = lists.iter().filter_map(|lists| lists.get(position));
                let rows = Shortlist::merged(query.wanted.top_k, query.margin, lists);
                self.best(query.wanted.vector, query.norm, query.wanted.top_k, &rows)
            })
            .collect()
    }

    /// Of each query, the rows of `span` that may be among its nearest.
    fn shortlists(&self, queries: &[Query<'_>], span: Range<usize>) -> Vec<Shortlist> {
        let mut lists: Vec<Shortlist> =
            queries.iter().map(|query| Shortlist::new(query.wanted.top_k, query.margin)).collect();
        let fits = |query: &Query<'_>| query.factor.len() == self.rows.dimensions;
        let width = self.rows.dimensions;
        // Vectors of another length are multiplied as zeros, and take nothing of it.
        let mut factors = vec![0.0f32; queries.len() * width];
        for (query, numbers) in queries.iter().zip(factors.chunks_exact_mut(width.max(1))) {
            if fits(query) {
                numbers.copy_from_slice(&query.factor);
            }
        }
        let mut products = vec![0.0f32; queries.len() * BLOCK_ROWS];
        for start in span.clone().step_by(BLOCK_ROWS) {
            let rows = start..(start + BLOCK_ROWS).min(span.end);
            let Some(products) = products.get_mut(..queries.len() * rows.len()) else { continue };
            if !self.multiply(&factors, rows.clone(), products) {
                continue;
            }
            let scales = (self.scales.scale.get(rows.clone()), self.scales.offset.get(rows.clone()));
            let (Some(scale), Some(offset)) = scales else { continue };
            let of_queries = queries.iter().zip(products.chunks_exact(rows.len())).zip(&mut lists);
            for ((_, products), list) in of_queries.filter(|((query, _), _)| fits(query)) {
                scan(products, scale, offset, start, list);
            }
        }
        lists
    }

    /// The products of all queries with some rows, query after query; whether there are any.
    fn multiply(&self, factors: &[f32], rows: Range<usize>, products: &mut [f32]) -> bool {
        let width = self.rows.dimensions;
        let queries = factors.len() / width.max(1);
        let Some(matrix) = self.rows.matrix.get(rows.start * width..rows.end * width).filter(|_| queries > 0) else {
            return false;
        };
        if queries <= FEW_QUERIES {
            for (position, row) in matrix.chunks_exact(width).enumerate() {
                for (query, factor) in factors.chunks_exact(width).enumerate() {
                    if let Some(product) = products.get_mut(query * rows.len() + position) {
                        *product = rough_dot(factor, row);
                    }
                }
            }
            return true;
        }
        let shapes = (
            ArrayView2::from_shape((queries, width), factors),
            ArrayView2::from_shape((rows.len(), width), matrix),
            ArrayViewMut2::from_shape((queries, rows.len()), products),
        );
        let (Ok(factors), Ok(matrix), Ok(mut products)) = shapes else { return false };
        general_mat_mul(1.0, &factors, &matrix.t(), 0.0, &mut products);
        true
    }
}

/// Puts onto the list what is not below its threshold. Most rows are, so several are looked at at once.
fn scan(products: &[f32], scale: &[f32], offset: &[f32], start: usize, list: &mut Shortlist) {
    let parts = products.chunks(LANES).zip(scale.chunks(LANES)).zip(offset.chunks(LANES));
    for (part, ((products, scale), offset)) in parts.enumerate() {
        let mut scores = [f32::NEG_INFINITY; LANES];
        for (((score, product), scale), offset) in scores.iter_mut().zip(products).zip(scale).zip(offset) {
            *score = product * scale + offset;
        }
        let threshold = list.threshold();
        if scores.iter().fold(false, |any, score| any | !rules_out(*score, threshold)) {
            for (lane, score) in scores.into_iter().enumerate().take(products.len()) {
                list.offer((start + part * LANES + lane) as u32, score);
            }
        }
    }
}
