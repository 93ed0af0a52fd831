//! The nearest of 100,000 vectors of 384 numbers.

use std::time::Instant;

use ragstage_stages::build::vector::{Embeddings, VectorIndex, VectorOptions, Wanted};
use ragstage_stages::contract::Artifact;

use crate::figure::{Figure, median};

const ROWS: usize = 100_000;
const QUERIES: usize = 200;
const DIMENSIONS: usize = 384;
const TOP_K: usize = 10;

/// Numbers between -0.5 and 0.5 from a fixed seed (SplitMix64).
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let number = |_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..count).map(number).collect()
}

/// Measures the search alone, in an index that is mapped from a file, as peers are measured in `peers.py`.
pub fn figures() -> Vec<Figure> {
    let rows = numbers(1, ROWS * DIMENSIONS);
    let queries = numbers(2, QUERIES * DIMENSIONS);
    let embeddings = Embeddings::new(rows.chunks(DIMENSIONS).map(Some)).expect("embeddings");
    let start = Instant::now();
    let built = VectorIndex::build(&embeddings, &VectorOptions::default()).expect("an index");
    let bytes = built.encode().expect("a file");
    let build_ms = start.elapsed().as_secs_f64() * 1e3;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    std::fs::write(&path, bytes).expect("a file");
    let start = Instant::now();
    let index = VectorIndex::open(&path).expect("the file");
    let open_ms = start.elapsed().as_secs_f64() * 1e3;

    let wanted: Vec<Wanted<'_>> = queries.chunks(DIMENSIONS).map(|vector| Wanted { vector, top_k: TOP_K }).collect();
    let per_second = |search: &dyn Fn()| {
        search();
        let times = (0..5).map(|_| {
            let start = Instant::now();
            search();
            start.elapsed().as_secs_f64()
        });
        QUERIES as f64 / median(times.collect())
    };
    let batched = per_second(&|| drop(index.nearest(&wanted)));
    let one_by_one = per_second(&|| wanted.iter().for_each(|wanted| drop(index.nearest(&[*wanted]))));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let one_thread = alone.install(|| per_second(&|| drop(index.nearest(&wanted))));
    let of = "exact top 10 of 100,000 x 384, cosine";
    vec![
        Figure::new(format!("{of}: 200 queries at once, all cores"), batched, "queries/s"),
        Figure::new(format!("{of}: 200 queries at once, one thread"), one_thread, "queries/s"),
        Figure::new(format!("{of}: one query at a time, all cores"), one_by_one, "queries/s"),
        Figure::new("the index of these vectors: lengths and file", build_ms, "ms"),
        Figure::new("the index of these vectors: mapped and made ready", open_ms, "ms"),
    ]
}
