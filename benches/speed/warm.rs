//! A run that has nothing to do: 10,000 cases in three modes under six evaluators.

use crate::benchmark;
use crate::figure::{Figure, Target, median};
use crate::space::Space;

/// Three modes and six evaluators over one recipe.
pub const EVALUATION: &str = "\
recipe: {name: base}
queries:
  - {mode: full_text_search, name: top5, top_k: 5}
  - {mode: full_text_search, name: top10, top_k: 10}
  - {mode: full_text_search, name: top20, top_k: 20}
answer: {provider: extractive, sentences: 2, results: 5}
evaluators: [evidence_recall@5, nDCG@10, RR@10, answer_contains, answer_exact_match, token_f1]
";

/// Measures the warm run, and whether its file accesses grow with the cases.
pub fn figures() -> Vec<Figure> {
    let space = Space::new(&benchmark::corpus(2_000, 10_000), EVALUATION);
    let cold = space.ragstage("run --quiet");
    let second = space.ragstage("run --quiet");
    let warm = median((0..9).map(|_| space.ragstage("run --quiet").as_secs_f64() * 1e3).collect());
    let mut figures = vec![
        Figure::new("warm no-op, 10,000 cases x 3 modes x 6 evaluators", warm, "ms").target(Target::AtMost(100.0)),
        Figure::new("the first warm run, which hashes the report files", second.as_secs_f64() * 1e3, "ms"),
        Figure::new("the cold run before it", cold.as_secs_f64(), "s"),
    ];
    let small = Space::new(&benchmark::corpus(2_000, 100), EVALUATION);
    small.ragstage("run --quiet");
    small.ragstage("run --quiet");
    if let (Some(many), Some(few)) = (space.file_calls("run --quiet"), small.file_calls("run --quiet")) {
        figures.push(Figure::new("its file system calls with 100 cases", few as f64, "calls"));
        let name = "its file system calls with 10,000 cases: not one more";
        figures.push(Figure::new(name, many as f64, "calls").target(Target::AtMost(few as f64)));
    }
    figures
}
