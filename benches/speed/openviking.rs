//! 300 small files handed to an OpenViking server one by one, ten at once; every request takes 20 ms.

use std::time::{Duration, Instant};

use crate::benchmark;
use crate::figure::{Figure, Target};
use crate::openviking_server::OpenViking;
use crate::space::Space;

const FILES: usize = 300;
const WORKERS: usize = 10;
const LATENCY: Duration = Duration::from_millis(20);

/// Measures how long the hand-over takes beside the time that the server takes for its requests.
pub fn figures() -> Vec<Figure> {
    [("false", 3), ("true", 2)].map(|(wait, requests)| of_way(wait, requests)).into_iter().flatten().collect()
}

/// The figures where each file takes so many requests.
fn of_way(wait: &str, requests: usize) -> [Figure; 2] {
    let server = OpenViking::new();
    server.take_time(LATENCY);
    let evaluation = format!(
        "recipe:\n  name: viking\n  system: {{provider: openviking, url: \"{}\", version: \"0.5.2\", ingest_mode: per_file, \
         ingest_workers: {WORKERS}, wait: {wait}}}\n\
         queries:\n  - {{mode: find, name: find, top_k: 5}}\nanswer: none\nevaluators: [nDCG@5]\n",
        server.url()
    );
    let space = Space::new(&benchmark::corpus(FILES, 10), &evaluation);
    let start = Instant::now();
    let (_, ingested) = space.actions("run --quiet --until build", "ingest");
    let whole = start.elapsed();
    // Beside the files, the looks before and after them: version, place; version, count, a question and its text.
    let ideal_ms = LATENCY.as_secs_f64() * 1e3 * (FILES as f64 * requests as f64 / WORKERS as f64 + 6.0);
    let name = format!("300 files at 20 ms a request, 10 at once, {requests} requests each: time beside the ideal");
    [
        Figure::new(name, ingested.iter().sum::<f64>() / ideal_ms, "x").target(Target::AtMost(1.15)),
        Figure::new("the same over the whole process", whole.as_secs_f64() * 1e3 / ideal_ms, "x"),
    ]
}
