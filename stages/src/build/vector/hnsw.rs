//! A graph of near neighbours (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs", 2018): found by `instant-distance`, kept and followed here.
//!
//! Not exact: a nearest vector that no path leads to is not found. But the same on every build and every machine: one thread,
//! a fixed seed, and distances in one order of sums.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize, Serializer};

use super::little_endian::{Reader, put_u32s};
use super::options::Metric;
use super::rows::Rows;
use super::similarity::{rough_distance, rough_dot};
use crate::error::DecodeError;

/// Version of how graphs are made and followed, in the key of an index that has one.
pub(super) const HNSW_VERSION: u64 = 1;

/// Neighbours per point: twice as many in the layer that has all points. Fixed by the crate.
const LINKS: usize = 32;
const BASE_LINKS: usize = 2 * LINKS;
/// Points that are looked at while a point is put in.
const EF_CONSTRUCTION: usize = 100;
/// Least number of points that a search keeps looking at; more are where more results are wanted.
const EF_SEARCH: usize = 200;
/// 1 / ln(32), written out: logarithms differ between machines.
const LAYER_FACTOR: f32 = 0.288_539;
const SEED: u64 = 0x7261_6773_7461_6765;
/// No neighbour.
const NONE: u32 = u32::MAX;

/// How far a row is from a vector of length `norm`; infinitely far where numbers grow too large.
fn distance(rows: Rows<'_>, vector: &[f32], norm: f64, row: u32) -> f32 {
    let other = rows.vector(row as usize);
    let distance = match rows.metric {
        Metric::L2 => rough_distance(vector, other),
        Metric::Dot => -rough_dot(vector, other),
        Metric::Cosine => match norm * rows.norm(row as usize) {
            0.0 => 0.0,
            lengths => -(f64::from(rough_dot(vector, other)) / lengths) as f32,
        },
    };
    if distance.is_nan() { f32::INFINITY } else { distance }
}

/// A row while the graph is made.
#[derive(Clone)]
struct Point<'a> {
    rows: Rows<'a>,
    row: u32,
}

impl instant_distance::Point for Point<'_> {
    fn distance(&self, other: &Self) -> f32 {
        let row = self.row as usize;
        distance(self.rows, self.rows.vector(row), self.rows.norm(row), other.row)
    }
}

impl Serialize for Point<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.row)
    }
}

/// The crate's graph as it is serialised, with rows for points.
#[derive(Deserialize)]
struct Serialised {
    points: Vec<u32>,
    zero: Vec<Vec<u32>>,
    layers: Vec<Vec<Vec<u32>>>,
}

/// The graph. Points are numbered so that each layer has the first ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Hnsw {
    /// The row of each point.
    rows: Vec<u32>,
    /// The neighbours of each point, [`BASE_LINKS`] each, filled up with [`NONE`].
    base: Vec<u32>,
    /// The same for the layers above, [`LINKS`] each, the largest first.
    layers: Vec<Vec<u32>>,
}

impl Hnsw {
    /// The graph of all rows.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn build(rows: Rows<'_>) -> Result<Self, DecodeError> {
        let fault = |why: String| DecodeError::Format(format!("graph of neighbours: {why}"));
        let points = (0..rows.len()).map(|row| Point { rows, row: row as u32 }).collect();
        let builder = instant_distance::Builder::default()
            .seed(SEED)
            .ml(LAYER_FACTOR)
            .ef_construction(EF_CONSTRUCTION)
            .ef_search(EF_SEARCH);
        // With more threads points come in another order each time.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| fault(error.to_string()))?;
        let (graph, _) = alone.install(|| builder.build_hnsw(points));
        let Serialised { points, zero, layers } = serde_json::from_slice(&serde_json::to_vec(&graph)?)?;
        let layers = layers.into_iter().map(|layer| layer.concat()).collect();
        Ok(Hnsw { rows: points, base: zero.concat(), layers })
    }

    /// Appends the graph to a file: the number of layers above the base (u32), the points of each (u32), the row of each point
    /// (u32), and the neighbours of the base and of the layers (u32).
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let points = |layer: &Vec<u32>| (layer.len() / LINKS) as u32;
        put_u32s(bytes, &[self.layers.len() as u32]);
        put_u32s(bytes, &self.layers.iter().map(points).collect::<Vec<_>>());
        put_u32s(bytes, &self.rows);
        put_u32s(bytes, &self.base);
        self.layers.iter().for_each(|layer| put_u32s(bytes, layer));
    }

    /// Reads what [`Hnsw::write`] wrote of `rows` rows.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read(reader: &mut Reader<'_>, rows: usize) -> Result<Self, DecodeError> {
        let count = reader.u32()? as usize;
        let points = reader.u32s(count)?;
        let order = reader.u32s(rows)?;
        if order.iter().any(|row| *row as usize >= rows) {
            return Err(reader.error("a point of the graph has no row"));
        }
        let base = reader.u32s(rows.saturating_mul(BASE_LINKS))?;
        let layers = points.iter().map(|points| reader.u32s((*points as usize).saturating_mul(LINKS)));
        Ok(Hnsw { rows: order, base, layers: layers.collect::<Result<_, _>>()? })
    }

    /// Rows near a vector, at least `wanted` of them where paths lead to as many, in no order that matters.
    pub fn near(&self, rows: Rows<'_>, vector: &[f32], norm: f64, wanted: usize) -> Vec<u32> {
        let from = |point: u32| {
            let row = self.rows.get(point as usize)?;
            Some(distance(rows, vector, norm, *row))
        };
        let Some(entry) = from(0) else { return Vec::new() };
        let mut nearest = vec![Candidate { distance: entry, point: 0 }];
        for layer in self.layers.iter().rev() {
            nearest = follow(layer, LINKS, nearest, 1, self.rows.len(), &from);
        }
        let ef = EF_SEARCH.max(wanted.saturating_mul(2));
        nearest = follow(&self.base, BASE_LINKS, nearest, ef, self.rows.len(), &from);
        nearest.iter().filter_map(|candidate| self.rows.get(candidate.point as usize).copied()).collect()
    }
}

/// A point that was looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    distance: f32,
    point: u32,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.point.cmp(&other.point))
    }
}

/// Algorithm 2 of the paper: the `ef` nearest points of a layer that paths from `entries` lead to.
fn follow(
    layer: &[u32],
    links: usize,
    entries: Vec<Candidate>,
    ef: usize,
    points: usize,
    from: &dyn Fn(u32) -> Option<f32>,
) -> Vec<Candidate> {
    let mut seen = vec![0u64; points.div_ceil(64)];
    let mut first_time = |point: u32| match seen.get_mut(point as usize / 64) {
        Some(word) => {
            let bit = 1u64 << (point % 64);
            let new = *word & bit == 0;
            *word |= bit;
            new
        }
        None => false,
    };
    let mut nearest: BinaryHeap<Candidate> = entries.into_iter().filter(|entry| first_time(entry.point)).collect();
    let mut open: BinaryHeap<Reverse<Candidate>> = nearest.iter().copied().map(Reverse).collect();
    while let Some(Reverse(next)) = open.pop() {
        if nearest.len() >= ef && nearest.peek().is_some_and(|furthest| next > *furthest) {
            break;
        }
        let start = next.point as usize * links;
        let neighbours = layer.get(start..start + links).unwrap_or_default();
        for &point in neighbours.iter().take_while(|point| **point != NONE) {
            if !first_time(point) {
                continue;
            }
            let Some(distance) = from(point) else { continue };
            let candidate = Candidate { distance, point };
            if nearest.len() < ef || nearest.peek().is_some_and(|furthest| candidate < *furthest) {
                open.push(Reverse(candidate));
                nearest.push(candidate);
                if nearest.len() > ef {
                    nearest.pop();
                }
            }
        }
    }
    nearest.into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::vector::similarity::norm;

    /// Some vectors and their lengths.
    fn matrix(rows: usize, dimensions: usize) -> (Vec<f32>, Vec<f64>) {
        let number = |i: usize| ((i * 2_654_435_761 % 1_000_003) as f32 / 1_000_003.0) - 0.5;
        let matrix: Vec<f32> = (0..rows * dimensions).map(number).collect();
        let norms = matrix.chunks(dimensions).map(norm).collect();
        (matrix, norms)
    }

    #[test]
    fn the_graph_is_the_same_each_time_and_read_as_it_was_written() {
        let (matrix, norms) = matrix(120, 8);
        let rows = Rows { metric: Metric::Cosine, dimensions: 8, matrix: &matrix, norms: &norms };
        let graph = Hnsw::build(rows).expect("graph");
        assert_eq!(Hnsw::build(rows).expect("graph"), graph);
        let mut bytes = b"RSTEST01\x01\0\0\0".to_vec();
        graph.write(&mut bytes);
        let mut reader = Reader::open("test", &bytes, b"RSTEST01", 1).expect("reader");
        assert_eq!(Hnsw::read(&mut reader, 120).expect("read"), graph);
        reader.end().expect("all");
    }

    #[test]
    fn most_of_the_nearest_are_found() {
        let (matrix, norms) = matrix(250, 8);
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let rows = Rows { metric, dimensions: 8, matrix: &matrix, norms: &norms };
            let graph = Hnsw::build(rows).expect("graph");
            let mut found = 0;
            for query in 0..20u32 {
                let vector = rows.vector(query as usize * 7);
                let near = |row: &u32| Candidate { distance: distance(rows, vector, norm(vector), *row), point: *row };
                let mut all: Vec<u32> = (0..250).collect();
                all.sort_by_key(near);
                let near = graph.near(rows, vector, norm(vector), 10);
                found += all[..10].iter().filter(|row| near.contains(row)).count();
            }
            assert!(found >= 190, "{metric:?}: {found} of 200");
        }
    }

    #[test]
    fn no_points_and_broken_links_lead_nowhere() {
        let rows = Rows { metric: Metric::Dot, dimensions: 1, matrix: &[1.0], norms: &[1.0] };
        assert!(Hnsw::default().near(rows, &[1.0], 1.0, 3).is_empty());
        let broken = Hnsw { rows: vec![0], base: vec![7; BASE_LINKS], layers: vec![vec![9; 3]] };
        assert_eq!(broken.near(rows, &[1.0], 1.0, 3), [0]);
    }
}
