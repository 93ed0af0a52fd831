//! A run of 10 million rows to five measures, the whole process: from text, from our Parquet, and by a plain program.
//!
//! The files are left in cargo's temporary folder for `benches/peers.py`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use crate::figure::{Figure, Target, median};
use crate::process::{Cost, ragstage};

const QUERIES: u64 = 10_000;
const DEPTH: u64 = 1_000;
/// Documents of the collection.
const DOCUMENTS: u64 = 8_841_823;
const MEASURES: [&str; 10] =
    ["--measure", "nDCG@10", "--measure", "AP", "--measure", "RR", "--measure", "P@10", "--measure", "R@100"];

/// Measures all of it.
pub fn figures() -> Vec<Figure> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    make(folder);
    let _ = std::fs::remove_file(folder.join("trec.parquet"));
    let convert = ragstage(folder, &["score", "--quiet", "--run", "trec.run", "--to-parquet", "trec.parquet"]);
    let score = |run: &str, jobs: &str| {
        let arguments = ["score", "--quiet", "--qrels", "trec.qrels", "--run", run, "--jobs", jobs];
        ragstage(folder, &[&arguments, &MEASURES[..]].concat())
    };
    let mut figures = Vec::new();
    for (what, run, most) in [("TREC text", "trec.run", 1.9), ("our Parquet", "trec.parquet", 1.3)] {
        let costs: Vec<Cost> = (0..3).map(|_| score(run, "2")).collect();
        let name = format!("10 million rows, {what}, five measures");
        let cpu = median(costs.iter().map(|cost| cost.cpu_s).collect());
        let peak = costs.iter().map(|cost| cost.peak_mb).fold(f64::NAN, f64::max);
        figures.push(Figure::new(format!("{name}: processor time"), cpu, "s").target(Target::AtMost(most)));
        figures.push(Figure::new(format!("{name}: memory"), peak, "MB").target(Target::AtMost(500.0)));
        let wall = |jobs: &str| {
            let start = Instant::now();
            score(run, jobs);
            start.elapsed().as_secs_f64()
        };
        let gains = (0..3).map(|_| wall("1") / wall("2")).collect();
        figures.push(
            Figure::new(format!("{name}: two threads against one"), median(gains), "x").target(Target::AtLeast(1.8)),
        );
    }
    figures.push(Figure::new("10 million rows, TREC text to our Parquet: processor time", convert.cpu_s, "s"));
    let start = Instant::now();
    plain(folder);
    let plain = start.elapsed().as_secs_f64();
    figures.push(Figure::new("10 million rows, TREC text, a plain program of one thread: wall time", plain, "s"));
    figures
}

/// Some number that looks random and is the same every time.
fn draw(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The document at a rank of a query: a step that shares no factor with the collection's size never meets one twice.
fn document(query: u64, rank: u64) -> u64 {
    let step = 1 + draw(query) % 1_000_003;
    (draw(query + QUERIES) % DOCUMENTS + rank * step) % DOCUMENTS
}

fn make(folder: &Path) {
    if folder.join("trec.run").is_file() && folder.join("trec.qrels").is_file() {
        return;
    }
    let mut run = BufWriter::new(File::create(folder.join("trec.run.part")).expect("a file"));
    let mut qrels = BufWriter::new(File::create(folder.join("trec.qrels")).expect("a file"));
    let mut line = String::new();
    for query in 0..QUERIES {
        let mut score = 30.0 + (draw(query) % 1000) as f64 / 100.0;
        for rank in 0..DEPTH {
            score -= (draw(query * DEPTH + rank) % 20) as f64 / 1e4;
            line.clear();
            writeln!(line, "{} Q0 MARCO_{} {} {score:.6} run", 100_000 + query, document(query, rank), rank + 1)
                .expect("a line");
            run.write_all(line.as_bytes()).expect("write");
        }
        let mut judged = HashSet::new();
        for i in 0..50 {
            // Half of them are in the run, most of those near its top.
            let rank = draw(query * 50 + i) % [20, 100, DEPTH, DEPTH * 1000][i as usize % 4];
            let document = document(query, rank);
            if judged.insert(document) {
                writeln!(qrels, "{} 0 MARCO_{document} {}", 100_000 + query, draw(i + query) % 4).expect("write");
            }
        }
    }
    run.flush().expect("write");
    qrels.flush().expect("write");
    std::fs::rename(folder.join("trec.run.part"), folder.join("trec.run")).expect("rename");
}

/// The same work as one would write it in an hour: no checks, one thread.
fn plain(folder: &Path) {
    let open = |name: &str| BufReader::with_capacity(1 << 20, File::open(folder.join(name)).expect("a file"));
    let mut judged: HashMap<String, HashMap<String, i64>> = HashMap::new();
    for line in open("trec.qrels").lines() {
        let line = line.expect("a line");
        let cells: Vec<&str> = line.split_whitespace().collect();
        let grade = cells[3].parse().expect("a grade");
        judged.entry(cells[0].to_string()).or_default().insert(cells[2].to_string(), grade);
    }
    let mut sums = [0.0; 5];
    let mut close = |query: &str, rows: &mut Vec<(f32, String)>| {
        let Some(grades) = judged.get(query) else { return rows.clear() };
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
        let found: Vec<i64> = rows.iter().map(|(_, id)| grades.get(id).copied().unwrap_or(0)).collect();
        let relevant = grades.values().filter(|grade| **grade > 0).count().max(1) as f64;
        let gain = |grades: &[i64]| {
            grades.iter().take(10).zip(2u32..).map(|(g, d)| *g as f64 / f64::from(d).log2()).sum::<f64>()
        };
        let mut ideal: Vec<i64> = grades.values().copied().collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let (mut hits, mut precisions) = (0.0, 0.0);
        for (rank, _) in found.iter().enumerate().filter(|(_, grade)| **grade > 0) {
            hits += 1.0;
            precisions += hits / (rank + 1) as f64;
        }
        let count = |k: usize| found.iter().take(k).filter(|grade| **grade > 0).count() as f64;
        sums[0] += gain(&found) / gain(&ideal).max(f64::MIN_POSITIVE);
        sums[1] += precisions / relevant;
        sums[2] += found.iter().position(|grade| *grade > 0).map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        sums[3] += count(10) / 10.0;
        sums[4] += count(100) / relevant;
        rows.clear();
    };
    let (mut query, mut rows, mut line) = (String::new(), Vec::new(), String::new());
    let mut run = open("trec.run");
    while run.read_line(&mut line).expect("a line") > 0 {
        let mut cells = line.split_whitespace();
        let (Some(id), Some(document), Some(score)) = (cells.next(), cells.nth(1), cells.nth(1)) else { continue };
        if id != query {
            close(&query, &mut rows);
            query = id.to_string();
        }
        rows.push((score.parse().expect("a score"), document.to_string()));
        line.clear();
    }
    close(&query, &mut rows);
    std::hint::black_box(sums);
}
