//! A benchmark as its adapter reads it.

use std::collections::BTreeMap;

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
    /// The cases that cannot be asked, e.g. since their document is not on disk, each with the reason. They are in the tables
    /// and in units like any other, and skipped: never asked, never scored 0.
    pub skipped: BTreeMap<String, String>,
    /// Evaluators (in evaluator grammar) for an evaluation that names none.
    pub default_evaluators: Vec<String>,
}

impl Benchmark {
    /// The unit over everything.
    pub(super) fn whole(metadata: crate::artifact::Json) -> UnitRows {
        UnitRows { unit_id: "corpus".to_string(), document_rows: None, case_rows: None, metadata }
    }
}

/// How many lines of a file are told of.
const TOLD_LINES: usize = 20;
/// How many errors of one line are told: some files are one line.
const TOLD_OF_LINE: usize = 20;

/// Adds what was found in one file to `errors`, in line order. When very many lines are wrong they are all wrong in the same
/// way, so the first ones are told and the others counted.
pub(super) fn append_in_line_order(errors: &mut Vec<InputError>, mut found: Vec<InputError>) {
    found.sort_by_key(|error| error.place.line);
    let mut lines: Vec<u64> = found.iter().filter_map(|error| error.place.line).collect();
    lines.dedup();
    let last_told = lines.get(TOLD_LINES - 1).copied();
    let more = lines.len().saturating_sub(TOLD_LINES);
    let first_untold = found.iter().position(|error| more > 0 && error.place.line > last_told);
    let untold = first_untold.map(|position| found.split_off(position)).unwrap_or_default();
    for of_line in found.chunk_by(|a, b| a.place.line == b.place.line) {
        let all = if of_line.iter().any(|error| error.place.line.is_none()) { of_line.len() } else { TOLD_OF_LINE };
        errors.extend(of_line.iter().take(all).cloned());
        if let (Some(first), more @ 1..) = (of_line.first(), of_line.len().saturating_sub(all)) {
            let faults = if more == 1 { "fault" } else { "faults" };
            errors.push(InputError::new(
                Place { column: None, ..first.place.clone() },
                format!("... and {more} more {faults} here"),
            ));
        }
    }
    if let Some(InputError { place, .. }) = untold.into_iter().next() {
        let lines = if more == 1 { "line" } else { "lines" };
        errors.push(InputError::new(Place { column: None, ..place }, format!("... and {more} more {lines}")));
    }
}

/// The object-store style key of a document (spec/heta 2).
pub(super) fn source_key(benchmark: &str, split: &str, document_id: &str, name: &str) -> String {
    format!("raw/benchmarks/{benchmark}/{split}/{document_id}/{name}")
}

/// The error of a file in which there is nothing: no document, no case.
pub(super) fn nothing(place: Place, what: &str, hint: &str) -> InputError {
    InputError::new(place, format!("expected at least one {what}, found none")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[Option<u64>]) -> Vec<String> {
        let error = |line: &Option<u64>| InputError::new(Place { line: *line, ..Place::file("f") }, "wrong");
        let mut errors = Vec::new();
        append_in_line_order(&mut errors, lines.iter().map(error).collect());
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_first_lines_are_told_and_the_others_counted() {
        let wrong: Vec<Option<u64>> = (1..=1000).rev().map(Some).chain([Some(20), Some(21), None]).collect();
        let errors = told(&wrong);
        assert_eq!(errors.len(), 23);
        assert_eq!(errors[..2], ["f: wrong", "f:1: wrong"]);
        assert_eq!(errors[20..], ["f:20: wrong", "f:20: wrong", "f:21: ... and 980 more lines"]);
    }

    #[test]
    fn of_one_long_line_the_first_faults_are_told_and_the_others_counted() {
        let errors = told(&[Some(3); 500]);
        assert_eq!(errors.len(), 21);
        assert_eq!(errors.last().map(String::as_str), Some("f:3: ... and 480 more faults here"));
        assert_eq!(told(&[Some(3); 20]).len(), 20);
    }

    #[test]
    fn few_lines_are_all_told() {
        let wrong: Vec<Option<u64>> = (1..=20).map(Some).collect();
        assert_eq!(told(&wrong).len(), 20);
        let wrong: Vec<Option<u64>> = (1..=21).map(Some).collect();
        assert_eq!(told(&wrong).last().map(String::as_str), Some("f:21: ... and 1 more line"));
        assert_eq!(told(&[None; 30]).len(), 30);
    }
}
