//! Five lexical evaluators over 10,000 responses with ten hits each, the whole process.
//!
//! The files are left in cargo's temporary folder for `benches/peers.py`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::figure::{Figure, Target, median};
use crate::process::{Cost, ragstage};

const CASES: usize = 10_000;
const WORDS: [&str; 24] = [
    "tide", "harbour", "the", "of", "pilot", "ledger", "and", "a", "cargo", "north", "vessel", "in", "mooring", "was",
    "signal", "fathom", "to", "quay", "lantern", "by", "Customs", "officer", "at", "noon",
];
const EVALUATORS: [&str; 10] = [
    "--evaluator",
    "answer_contains",
    "--evaluator",
    "answer_exact_match",
    "--evaluator",
    "token_f1",
    "--evaluator",
    "evidence_recall@5",
    "--evaluator",
    "evidence_recall@10",
];

/// Measures it.
pub fn figures() -> Vec<Figure> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    make(folder);
    let score = |jobs: &str| {
        let files = ["score", "--quiet", "--cases", "lexical-cases.jsonl", "--responses", "lexical-responses.jsonl"];
        ragstage(folder, &[&files[..], &["--jobs", jobs], &EVALUATORS].concat())
    };
    let costs: Vec<Cost> = (0..5).map(|_| score("2")).collect();
    let cpu = median(costs.iter().map(|cost| cost.cpu_s).collect());
    let peak = costs.iter().map(|cost| cost.peak_mb).fold(f64::NAN, f64::max);
    let wall = |jobs: &str| {
        let start = Instant::now();
        score(jobs);
        start.elapsed().as_secs_f64()
    };
    let gains = (0..5).map(|_| wall("1") / wall("2")).collect();
    let name = "10,000 responses x 10 hits, five lexical evaluators";
    vec![
        Figure::new(format!("{name}: processor time"), cpu, "s").target(Target::AtMost(0.3)),
        Figure::new(format!("{name}: memory"), peak, "MB"),
        Figure::new(format!("{name}: two threads against one"), median(gains), "x").target(Target::AtLeast(1.8)),
    ]
}

fn words(seed: usize, count: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut text = String::new();
    for i in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if i > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
    }
    text
}

fn make(folder: &Path) {
    let mut cases = BufWriter::new(File::create(folder.join("lexical-cases.jsonl")).expect("a file"));
    let mut responses = BufWriter::new(File::create(folder.join("lexical-responses.jsonl")).expect("a file"));
    for case in 0..CASES {
        let id = format!("case-{case}");
        let hits: Vec<_> = (0..10)
            .map(|rank| {
                let text = words(case * 10 + rank, 90);
                json!({"id": format!("chunk-{case}-{rank}"), "text": text, "score": 1.0 - rank as f64 / 16.0, "kind": "chunk",
                    "source": {"document_id": format!("doc-{}", case * 7 + rank), "start": 0, "end": 500}, "metadata": {}})
            })
            .collect();
        // Found at rank 8 in every second case.
        let evidence = words(case * 10 + if case % 2 == 0 { 7 } else { 100_003 }, 12);
        let gold = json!({"answers": [words(case, 4), words(case + 1, 6)], "evidence": [{"text": evidence}]});
        let line = json!({"case_id": id, "query": words(case, 9), "expected": gold, "labels": {"type": "fact"}});
        writeln!(cases, "{line}").expect("write");
        let line = json!({"case_id": id, "answer": words(case, 30), "results": hits, "citations": []});
        writeln!(responses, "{line}").expect("write");
    }
}
