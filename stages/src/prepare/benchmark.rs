//! A benchmark as its adapter reads it.

use crate::artifact::{BenchmarkInfo, Documents, Golds, Queries, UnitRows};
use crate::error::{InputError, Place};

/// All of a benchmark, before the selection of cases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Benchmark {
    /// What it says of itself.
    pub info: BenchmarkInfo,
    /// Its documents in file order; at least one, ids unique.
    pub documents: Documents,
    /// Its queries in file order; at least one, ids unique.
    pub queries: Queries,
    /// What is expected of each query, in the same order.
    pub golds: Golds,
    /// Which documents and cases share a knowledge base; at least one unit.
    pub units: Vec<UnitRows>,
    /// Evaluators (in evaluator grammar) for an evaluation that names none.
    pub default_evaluators: Vec<String>,
}

impl Benchmark {
    /// The unit over everything.
    pub(super) fn whole(metadata: crate::artifact::Json) -> UnitRows {
        UnitRows { unit_id: "corpus".to_string(), document_rows: None, case_rows: None, metadata }
    }
}

/// Adds what was found in one file to `errors`, in line order.
pub(super) fn append_in_line_order(errors: &mut Vec<InputError>, mut found: Vec<InputError>) {
    found.sort_by_key(|error| error.place.line);
    errors.append(&mut found);
}

/// The object-store style key of a document (spec/heta 2).
pub(super) fn source_key(benchmark: &str, split: &str, document_id: &str, name: &str) -> String {
    format!("raw/benchmarks/{benchmark}/{split}/{document_id}/{name}")
}

/// The error of a file in which there is nothing: no document, no case.
pub(super) fn nothing(place: Place, what: &str, hint: &str) -> InputError {
    InputError::new(place, format!("expected at least one {what}, found none")).hint(hint)
}
