//! One more evaluator over responses that are there: 10,000 cases with ten hits each.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use ragstage_cache::table_file::{TableFile, TableSource};

use crate::benchmark;
use crate::figure::{Figure, Target, median};
use crate::space::Space;

const EVALUATION: &str = "\
recipe: {name: base}
queries:
  - {mode: full_text_search, name: bm25, top_k: 10}
answer: {provider: extractive, sentences: 2, results: 5}
evaluators: [evidence_recall@5]
";

/// Measures `ragstage score` with one new evaluator of each kind.
pub fn figures() -> Vec<Figure> {
    let space = Space::new(&benchmark::corpus(2_000, 10_000), EVALUATION);
    space.ragstage("run --quiet");
    let mut figures = Vec::new();
    for evaluator in ["nDCG@10", "token_f1"] {
        let (all, scores) = space.actions(&format!("score --quiet --evaluator {evaluator}"), "score");
        let name = format!("10,000 cases x 10 hits under a new {evaluator}");
        figures.push(Figure::new(format!("{name}: the score alone"), scores.iter().sum(), "ms"));
        figures.push(Figure::new(format!("{name}: with summary and report"), all.as_secs_f64() * 1e3, "ms"));
    }
    figures.extend(million());
    figures
}

/// What the million is scored by first.
const IMPORTED: &str = "\
recipe: {name: base, responses: {path: responses.jsonl}}
evaluators: [answer_contains]
";

/// A million responses to short questions, three hits each. They are imported: nobody asks so many here.
fn million() -> Vec<Figure> {
    const CASES: usize = 1_000_000;
    let space = Space::new(&benchmark::corpus(400, CASES), IMPORTED);
    let mut file = BufWriter::new(File::create(space.path("responses.jsonl")).expect("a file"));
    benchmark::responses(&mut file, 400, CASES, 3).expect("responses");
    file.flush().expect("responses");
    space.ragstage("run --quiet");
    let reading = |tables: &[(&str, &[&str])]| read(&space, tables).as_secs_f64();
    let answers: (&str, &[&str]) = ("answers", &["case_id", "answer", "citations", "error"]);
    let gold: (&str, &[&str]) = ("gold", &["case_id", "answers", "evidence", "value", "metadata"]);
    let results: (&str, &[&str]) =
        ("results", &["case_id", "id", "score", "kind", "source", "hit_metadata", "error", "text"]);
    let (whole, reading) = (reading(&[answers, gold, results]), reading(&[answers, gold]));
    let name = "1,000,000 responses";
    let mut figures = vec![
        Figure::new(format!("{name}: reading the columns of answers and gold, one thread"), reading, "s"),
        Figure::new(format!("{name}: reading the columns of results too, one thread"), whole, "s"),
    ];
    // The bound is that of all columns of the responses, whatever of them an evaluator reads.
    for evaluator in ["token_f1", "answer_exact_match", "evidence_recall@3", "nDCG@10"] {
        let (elapsed, peak) = space.peak(&format!("score --quiet --evaluator {evaluator}"));
        let (elapsed, name) = (elapsed.as_secs_f64(), format!("{name} under a new {evaluator}"));
        let bound = Target::AtMost(2.0 * whole);
        figures.push(Figure::new(format!("{name}, the whole command"), elapsed, "s").target(bound));
        figures.push(Figure::new(format!("{name}, memory"), peak, "MB").target(Target::AtMost(500.0)));
    }
    // Evaluators that nobody has asked for yet, for on what is kept no thread has work.
    let score = |evaluator: &str, jobs: u32| {
        let (_, scores) = space.actions(&format!("score --quiet --jobs {jobs} --evaluator {evaluator}"), "score");
        scores.iter().sum::<f64>()
    };
    let faster = score("AP@3", 1) / score("AP@2", 2);
    figures.push(Figure::new(format!("{name}: two threads for one"), faster, "x").target(Target::AtLeast(1.8)));
    figures.push(Figure::new("arithmetic alone: two threads for one, the most that the machine gives", most(), "x"));
    figures
}

/// How much more arithmetic two threads do than one: cores may share what they compute with, and virtual ones more.
fn most() -> f64 {
    let work = || {
        let start = Instant::now();
        black_box((0..400_000_000u64).fold(1, |sum: u64, i| black_box(sum.wrapping_mul(31).wrapping_add(i))));
        start.elapsed()
    };
    let both =
        || std::thread::scope(|scope| [scope.spawn(work), scope.spawn(work)].map(|one| one.join().expect("work")));
    let gains = (0..3).map(|_| {
        let alone = work();
        2.0 * alone.as_secs_f64() / both().into_iter().max().unwrap_or(alone).as_secs_f64()
    });
    median(gains.collect())
}

/// Reads columns of tables, a row group at a time, on one thread.
fn read(space: &Space, tables: &[(&str, &[&str])]) -> Duration {
    let files = space.artifacts();
    let start = Instant::now();
    for (table, columns) in tables {
        for file in files.iter().filter_map(|file| TableFile::open(TableSource::File(file.clone()), table, 1).ok()) {
            for group in 0..file.groups().len() {
                black_box(file.read(group, columns).expect("a row group"));
            }
        }
    }
    start.elapsed()
}
