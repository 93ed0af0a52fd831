//! Many small run units: 1,000 of three documents each, and 1,000 of one.

use crate::benchmark;
use crate::figure::{Figure, Target, median};
use crate::space::Space;

const UNITS: usize = 1_000;

const EVALUATION: &str = "\
recipe: {name: base}
queries:
  - {mode: full_text_search, name: bm25, top_k: 10}
answer: {provider: extractive, sentences: 2, results: 5}
evaluators: [evidence_recall@5, answer_contains]
";

/// Measures the build of the units, all that follows it, and a run that has nothing to do.
pub fn figures() -> Vec<Figure> {
    let space = Space::new(&benchmark::units(UNITS, 3), EVALUATION);
    space.ragstage("run --quiet --until prepare");
    let build = space.ragstage("run --quiet --until build --jobs 2").as_secs_f64() * 1e3;
    let rest = space.ragstage("run --quiet --jobs 2").as_secs_f64() * 1e3;
    let one = Space::new(&benchmark::units(UNITS, 1), EVALUATION);
    one.ragstage("run --quiet --until prepare");
    let one = one.ragstage("run --quiet --until build --jobs 2").as_secs_f64() * 1e3;
    let warm = median((0..5).map(|_| space.ragstage("run --quiet").as_secs_f64() * 1e3).collect());
    vec![
        Figure::new("build of one of 1,000 units of 3 documents, 2 jobs", build / UNITS as f64, "ms")
            .target(Target::AtMost(10.0)),
        Figure::new("build of one of 1,000 units of one document, 2 jobs", one / UNITS as f64, "ms")
            .target(Target::AtMost(10.0)),
        Figure::new("query, answer and two scores of one such unit", rest / UNITS as f64, "ms"),
        Figure::new("warm no-op of the 1,000 units (7,000 actions)", warm, "ms"),
    ]
}
