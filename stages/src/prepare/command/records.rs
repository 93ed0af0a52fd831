//! The records that a program printed: a benchmark.

use crate::artifact::{Json, UnitRows};
use crate::error::InputError;
use crate::prepare::benchmark::{Benchmark, append_in_line_order};
use crate::prepare::cases_file::cases_in;
use crate::prepare::documents_file::{DocumentFiles, documents_in};
use crate::prepare::fields::describe;
use crate::prepare::lines::{LineEnds, SourceBytes};
use crate::prepare::rows::{Row, rows};
use crate::prepare::sources::FindDocument;
use crate::prepare::units_file::{UnitParts, units_in};

use super::manifest::manifest;

/// The records of each type, in the order in which they were printed.
#[derive(Default)]
pub(super) struct Records {
    manifests: Vec<Row>,
    /// Those of documents.
    pub(super) documents: Vec<Row>,
    cases: Vec<Row>,
    units: Vec<Row>,
}

impl Records {
    /// The records in `source`. Lines that are none are errors.
    pub(super) fn read(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Self {
        let mut records = Records::default();
        for mut row in rows(source, LineEnds::Json, errors) {
            let kind = row.object.remove("type");
            match kind.as_ref().and_then(|kind| kind.as_str()) {
                Some("manifest") => records.manifests.push(row),
                Some("document") => records.documents.push(row),
                Some("case") => records.cases.push(row),
                Some("unit") => records.units.push(row),
                _ => {
                    let found = kind.as_ref().map_or("missing".to_string(), describe);
                    let message = format!("`type` is {found}; expected manifest, document, case or unit");
                    let place = crate::error::Place::line(source.path, row.line);
                    errors.push(InputError::new(place, message));
                }
            }
        }
        records
    }
}

/// The benchmark in `source`; `name` is its name where it does not say it.
///
/// # Errors
/// All that is missing or malformed, with lines.
pub(super) fn read(name: &str, source: SourceBytes<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
    let mut found = Vec::new();
    let records = Records::read(source, &mut found);
    // Of what is no record it is not known which kind it was to be, so nothing is missed.
    let complete = found.is_empty();
    let (mut info, default_evaluators) = manifest(name, source.path, &records.manifests, &mut found);
    let mut errors = Vec::new();
    append_in_line_order(&mut errors, found);
    let files = DocumentFiles { find, root: "the folder of the evaluation file" };
    let mut told = Vec::new();
    let (documents, document_ids) = documents_in(&info, source.path, &records.documents, &files, Vec::new(), &mut told);
    let (queries, golds, case_ids) = cases_in(source.path, &records.cases, Vec::new(), &mut told);
    // That there is no document or no case.
    errors.extend(told.into_iter().filter(|error| complete || error.place.line.is_some()));
    let units = if records.units.is_empty() {
        vec![Benchmark::whole(Json::new())]
    } else {
        let parts = UnitParts { documents: &document_ids, cases: &case_ids, queries: &queries };
        units_in(source.path, &records.units, &parts, Vec::new(), &mut errors)
    };
    if !errors.is_empty() {
        return Err(errors);
    }
    if info.build_scope.is_empty() {
        let one = matches!(units.as_slice(), [UnitRows { document_rows: None, case_rows: None, .. }]);
        info.build_scope = if one { "corpus" } else { "case" }.to_string();
    }
    Ok(Benchmark { info, documents, queries, golds, units, default_evaluators, ..Benchmark::default() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragstage_cache::Digest;
    use serde_json::json;

    use super::*;

    fn read_text(text: &str) -> Result<Benchmark, Vec<String>> {
        let source = SourceBytes { path: Path::new("output of make.sh"), bytes: text.as_bytes() };
        let find = |path: &str| Ok((path == "a.md").then(|| (Digest::of(b"x"), 1)));
        let told = |errors: Vec<InputError>| errors.iter().map(ToString::to_string).collect();
        read("reef", source, &find).map_err(told)
    }

    #[test]
    fn records_of_all_types_are_a_benchmark() {
        let text = concat!(
            "{\"type\": \"case\", \"case_id\": \"q\", \"query\": \"Why?\", \"expected\": {\"answers\": [\"x\"]}}\n",
            "{\"type\": \"document\", \"document_id\": \"d\", \"name\": \"a.md\", \"media_type\": \"text/markdown\", \"path\": \"a.md\"}\n",
            "\n",
            "{\"type\": \"manifest\", \"name\": \"harbour\", \"version\": 3, \"license\": \"CC0\", \"metadata\": {\"k\": 1},\n",
            "{\"type\": \"unit\", \"unit_id\": \"u\", \"document_ids\": [\"d\"], \"case_ids\": [\"q\"]}\n",
        )
        .replace("},\n", ", \"default_evaluators\": [\"token_f1\", \"R@5\"]}\n")
        .replace("\"metadata\": {\"k\": 1,", "\"metadata\": {\"k\": 1},");
        let benchmark = read_text(&text).expect("a benchmark");
        assert_eq!((benchmark.info.name.as_str(), benchmark.info.version.as_str()), ("harbour", "3"));
        assert_eq!((benchmark.info.license.as_deref(), benchmark.info.build_scope.as_str()), (Some("CC0"), "case"));
        assert_eq!(benchmark.info.metadata["k"], json!(1));
        assert_eq!(benchmark.default_evaluators, ["token_f1", "R@5"]);
        assert_eq!(benchmark.documents.rows[0].source_key, "raw/benchmarks/harbour/test/d/a.md");
        assert_eq!(benchmark.units[0].document_rows, Some(vec![0]));
    }

    #[test]
    fn a_manifest_and_units_may_be_left_out() {
        let text = concat!(
            "{\"type\": \"document\", \"document_id\": \"d\", \"name\": \"a.txt\", \"media_type\": \"text/plain\", \"text\": \"\"}\n",
            "{\"type\": \"case\", \"case_id\": \"q\", \"query\": \"Why?\"}\n",
        );
        let benchmark = read_text(text).expect("a benchmark");
        assert_eq!((benchmark.info.name.as_str(), benchmark.info.build_scope.as_str()), ("reef", "corpus"));
        assert_eq!(benchmark.units, [Benchmark::whole(Json::new())]);
        assert_eq!(benchmark.default_evaluators, ["evidence_recall@5", "answer_contains"]);
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        let text = concat!(
            "{\"type\": \"manifest\", \"build_scope\": \"all\", \"nam\": \"x\", \"default_evaluators\": [\"ndcg@5\"]}\n",
            "{\"type\": \"manifest\"}\n",
            "{\"type\": \"documents\"}\n",
            "{\"document_id\": \"d\"}\n",
            "Done.\n",
            "{\"type\": \"document\", \"document_id\": \"d\", \"name\": \"a/b\", \"media_type\": \"text/plain\", \"path\": \"b.md\"}\n",
            "{\"type\": \"case\", \"case_id\": \"q\"}\n",
            "{\"type\": \"unit\", \"unit_id\": \"u\", \"note\": 1}\n",
        );
        let errors = read_text(text).expect_err("faults");
        let expected = [
            "output of make.sh:1: unknown key `nam`",
            "output of make.sh:1: `build_scope` is \"all\"; expected corpus, group or case",
            "output of make.sh:1: `default_evaluators` has \"ndcg@5\": no evaluator is called \"ndcg\"",
            "output of make.sh:2: a second manifest; the first is on line 1",
            "output of make.sh:3: `type` is the text \"documents\"; expected manifest, document, case or unit",
            "output of make.sh:4: `type` is missing; expected manifest, document, case or unit",
            "output of make.sh:5:1: invalid JSON: expected value",
            "output of make.sh:6: `name` is \"a/b\"; expected a file name",
            "output of make.sh:6: `path` \"b.md\" is missing on disk",
            "output of make.sh:7: `query` is missing; expected a text",
            "output of make.sh:8: unknown key `note`",
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:#?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn an_output_without_anything_is_told() {
        let errors = read_text("").expect_err("faults");
        assert_eq!(
            errors,
            [
                "output of make.sh: expected at least one document, found none",
                "output of make.sh: expected at least one case, found none",
            ]
        );
        // Of garbage alone no more is told than that it is garbage.
        assert_eq!(read_text("no json\n").expect_err("a fault").len(), 1);
    }
}
