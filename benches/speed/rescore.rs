//! One more evaluator over responses that are there: 10,000 cases with ten hits each.

use crate::benchmark;
use crate::figure::Figure;
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
    figures
}
