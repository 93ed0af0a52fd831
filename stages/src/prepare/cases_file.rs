//! The cases file of the `jsonl` adapter.

use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;

use super::benchmark::{append_in_line_order, nothing};
use super::fields::Fields;
use super::ids::Ids;
use super::keys::{CASE, EVIDENCE, EXPECTED};
use super::lines::{LineEnds, SourceBytes};
use super::rows::{Row, rows};
use crate::artifact::{Evidence, Gold, Golds, Queries, Query};
use crate::error::{InputError, Place};
use crate::score::Qrels;

/// The cases of a file in the format of the `jsonl` adapter, without a benchmark around them.
///
/// # Errors
/// All that is wrong with the file, with lines.
pub fn read_jsonl_cases(source: SourceBytes<'_>) -> Result<(Queries, Golds), Vec<InputError>> {
    let mut errors = Vec::new();
    let (queries, golds, _) = read_cases(source, &mut errors);
    if errors.is_empty() { Ok((queries, golds)) } else { Err(errors) }
}

/// The cases of `source`: rows of `case_id`, `query`, `expected`, `labels` and `metadata`.
pub(super) fn read_cases(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> (Queries, Golds, Ids) {
    let mut found = Vec::new();
    let rows = rows(source, LineEnds::Json, &mut found);
    cases_in(source.path, &rows, found, errors)
}

/// The cases in `rows` of the file `path`, of which `found` is what is known to be wrong so far.
pub(super) fn cases_in(
    path: &Path,
    rows: &[Row],
    mut found: Vec<InputError>,
    errors: &mut Vec<InputError>,
) -> (Queries, Golds, Ids) {
    let mut ids = Ids::new("case_id");
    let mut queries = Vec::new();
    let mut golds = Vec::new();
    let cases: Vec<CaseRow> = rows.par_iter().map(|row| CaseRow::read(path, row)).collect();
    for (row, case) in rows.iter().zip(cases) {
        if let Some(case_id) = &case.case_id {
            ids.take(case_id, queries.len(), Fields::of(path, row).place(), &mut found);
        }
        found.extend(case.found);
        if let (Some(case_id), Some(text)) = (case.case_id, case.text) {
            golds.push(Gold { case_id: case_id.clone(), ..case.gold });
            queries.push(Query { case_id, text, category: None });
        }
    }
    if queries.is_empty() && found.is_empty() {
        found.push(nothing(Place::file(path), "case", "write one case per line"));
    }
    append_in_line_order(errors, found);
    (Queries { rows: queries }, Golds { rows: golds }, ids)
}

/// What a row says of a case, and what is wrong with it.
struct CaseRow {
    case_id: Option<String>,
    text: Option<String>,
    gold: Gold,
    found: Vec<InputError>,
}

impl CaseRow {
    fn read(path: &Path, row: &Row) -> Self {
        let mut found = Vec::new();
        let fields = Fields::of(path, row).checked(&CASE, &mut found);
        let case_id = fields.text("case_id", &mut found);
        let text = fields.text("query", &mut found);
        let mut gold = match fields.nested("expected", &mut found) {
            Some(expected) => gold(&expected.checked(&EXPECTED, &mut found), &mut found),
            None => Gold::default(),
        };
        gold.labels = fields.object("labels", &mut found);
        gold.case_metadata = fields.object("metadata", &mut found);
        // Else every measure would fail on the case, once the whole evaluation had run.
        if let Err(error) = Qrels::of(&gold) {
            found.push(fields.error(error.message).hint("grades are whole numbers: 0 is not relevant, 1 and more is"));
        }
        CaseRow { case_id, text, gold, found }
    }
}

fn gold(expected: &Fields<'_>, errors: &mut Vec<InputError>) -> Gold {
    let mut answers = Vec::new();
    for (name, item) in expected.list("answers", errors) {
        match item {
            // JSON's own words, where the reference system writes Python's `True`, `False` and `None` (bug 22).
            Value::Bool(value) => answers.push(value.to_string()),
            item => answers.extend(expected.item(&name, item, errors)),
        }
    }
    let mut evidence = Vec::new();
    for (name, item) in expected.list("evidence", errors) {
        if let Some(fields) = expected.as_fields(name.clone(), item, errors) {
            evidence.extend(piece(&name, fields, errors));
        }
    }
    Gold {
        answers,
        evidence,
        value: expected.value("value").cloned().unwrap_or_default(),
        metadata: expected.object("metadata", errors),
        ..Gold::default()
    }
}

/// One piece of evidence.
fn piece(name: &str, fields: Fields<'_>, errors: &mut Vec<InputError>) -> Option<Evidence> {
    let before = errors.len();
    let fields = fields.checked(&EVIDENCE, errors);
    let evidence = Evidence {
        reference_id: fields.optional_text("reference_id", errors),
        locator: fields.object("locator", errors),
        text: fields.optional_text("text", errors),
        metadata: fields.object("metadata", errors),
    };
    if errors.len() > before {
        return None;
    }
    if evidence.reference_id.is_none() && evidence.locator.is_empty() && evidence.text.is_none() {
        let error = fields.error(format!("`{name}` says nothing of where the evidence is"));
        errors.push(error.hint("give at least one of `reference_id`, `locator`, `text`"));
        return None;
    }
    Some(evidence)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<(Queries, Golds), Vec<String>> {
        let mut errors = Vec::new();
        let source = SourceBytes { path: Path::new("cases.jsonl"), bytes: text.as_bytes() };
        let (queries, golds, _) = read_cases(source, &mut errors);
        if errors.is_empty() { Ok((queries, golds)) } else { Err(errors.iter().map(ToString::to_string).collect()) }
    }

    #[test]
    fn a_case_has_its_gold() {
        let text = r#"{"case_id": 2, "query": " q ", "expected": {"answers": [" 1907 ", 42, true, 3.5], "value": [1],
            "evidence": [{"reference_id": "d", "locator": null, "metadata": {"relevance": 2}}]}, "labels": {"type": "x"}}"#
            .replace('\n', " ");
        let (queries, golds) = read(&text).unwrap();
        assert_eq!(queries.rows, [Query { case_id: "2".into(), text: "q".into(), category: None }]);
        let gold = &golds.rows[0];
        assert_eq!(gold.case_id, "2");
        assert_eq!(gold.answers, ["1907", "42", "true", "3.5"]);
        assert_eq!(gold.value, json!([1]));
        assert_eq!(gold.evidence[0].reference_id.as_deref(), Some("d"));
        assert_eq!(gold.evidence[0].metadata["relevance"], 2);
        assert_eq!(gold.labels["type"], "x");
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        let text = concat!(
            "{\"case_id\": \"a\", \"query\": \"q\", \"expected\": {\"answers\": \"abc\"}}\n",
            "{\"case_id\": \"a\", \"expected\": {\"answers\": [\" \", null]}}\n",
            "\n",
            "{\"query\": \"q\", \"expected\": {\"evidence\": [\"e\", {\"metadata\": {\"x\": 1}}, {\"text\": \" \"}]}}\n",
            "{\"case_id\": \"b\", \"query\": \"q\", \"expected\": []}\n",
            "not json\n",
        );
        assert_eq!(
            read(text).unwrap_err(),
            [
                "cases.jsonl:1: `expected.answers` is the text \"abc\"; expected a list",
                "cases.jsonl:2: case_id \"a\" is taken by line 1",
                "cases.jsonl:2: `query` is missing; expected a text",
                "cases.jsonl:2: `expected.answers[0]` is blank",
                "cases.jsonl:2: `expected.answers[1]` is null; expected a text",
                "cases.jsonl:4: `case_id` is missing; expected a text",
                "cases.jsonl:4: `expected.evidence[0]` is the text \"e\"; expected an object",
                "cases.jsonl:4: `expected.evidence[1]` says nothing of where the evidence is",
                "cases.jsonl:4: `expected.evidence[2].text` is blank",
                "cases.jsonl:5: `expected` is a list; expected an object",
                "cases.jsonl:6:2: invalid JSON: expected ident",
            ]
        );
        assert_eq!(read("\n").unwrap_err(), ["cases.jsonl: expected at least one case, found none"]);
    }

    #[test]
    fn a_grade_that_no_measure_reads_is_told_with_its_line() {
        let case =
            |expected: &str| read(&format!("\n{{\"case_id\": \"a\", \"query\": \"q\", \"expected\": {expected}}}\n"));
        let evidence = |grade: &str| {
            case(&format!("{{\"evidence\": [{{\"reference_id\": \"d\", \"metadata\": {{\"relevance\": {grade}}}}}]}}"))
        };
        let judgements = |all: &str| case(&format!("{{\"metadata\": {{\"judgements\": {all}}}}}"));
        for grade in ["\"high\"", "true", "1e308", "1.5", "[1]"] {
            let told = evidence(grade).expect_err(grade);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(
                told[0].starts_with("cases.jsonl:2: expected the relevance of evidence 0 to be a whole"),
                "{told:?}"
            );
        }
        for grade in ["\"2\"", "2.0", "0", "-1", "null"] {
            assert!(evidence(grade).is_ok(), "{grade}");
        }
        let told = judgements("{\"d\": null}").expect_err("no grade");
        assert_eq!(told, ["cases.jsonl:2: expected the relevance of document \"d\" to be a whole number, found null"]);
        assert!(judgements("[1]").is_err());
        assert!(judgements("{\"d\": 0, \"e\": \"3\"}").is_ok());
    }

    #[test]
    fn a_misspelt_key_is_told_once_and_a_key_of_the_datasets_own_is_not() {
        let text = concat!(
            "{\"case_id\": \"a\", \"query\": \"q\", \"answers\": [\"x\"], \"label\": {}, \"extra\": 1}\n",
            "{\"case_id\": \"b\", \"quary\": \"q\", \"expected\": {\"answer\": [\"x\"], \"note\": 1}}\n",
            "{\"case_id\": \"c\", \"query\": \"q\", \"expected\": {\"evidence\": [{\"reference_ids\": \"d\"}]}}\n",
        );
        assert_eq!(
            read(text).unwrap_err(),
            [
                "cases.jsonl:1: unknown key `answers`",
                "cases.jsonl:1: unknown key `label`",
                "cases.jsonl:2: unknown key `quary`",
                "cases.jsonl:2: unknown key `expected.answer`",
                "cases.jsonl:3: unknown key `expected.evidence[0].reference_ids`",
            ]
        );
    }

    #[test]
    fn a_question_is_called_query() {
        let mut errors = Vec::new();
        let text = b"{\"case_id\": \"a\", \"question\": \"q\"}\n";
        read_cases(SourceBytes { path: Path::new("cases.jsonl"), bytes: text }, &mut errors);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].message, "`query` is missing; expected a text");
        assert_eq!(errors[0].hint.as_deref(), Some("there is a key `question`; call it `query`"));
    }
}
