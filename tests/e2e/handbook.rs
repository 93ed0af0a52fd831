//! `fixtures/handbook`: the documentation as a benchmark. A change of the documentation that takes the ground from under a
//! question fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::space::Space;

const CATEGORIES: [&str; 3] = ["concept", "howto", "reference"];

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn evaluation() -> PathBuf {
    project().join("fixtures/handbook/evaluation.yaml")
}

fn rows(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(project().join("fixtures/handbook").join(name)).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} is no text in {value}"))
}

fn list<'a>(case: &'a Value, field: &str) -> &'a [Value] {
    case["expected"][field].as_array().unwrap_or_else(|| panic!("{field} is no list in {case}"))
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn category(case: &Value) -> &str {
    text(&case["labels"], "category")
}

fn is_answerable(case: &Value) -> bool {
    case["labels"]["answerable"].as_bool().expect("a label that says so")
}

#[test]
fn it_is_as_large_as_it_should_be() {
    let documents = rows("documents.jsonl");
    let cases = rows("cases.jsonl");
    assert!(documents.len() >= 15, "{} documents", documents.len());
    assert!(cases.len() >= 40, "{} cases", cases.len());
    assert_eq!(cases.iter().map(category).collect::<BTreeSet<_>>(), BTreeSet::from(CATEGORIES));
    let without_gold =
        cases.iter().filter(|case| list(case, "answers").is_empty() && list(case, "evidence").is_empty()).count();
    assert_eq!(without_gold, 2);
    // A document that nobody asks about is there to distract; most have their questions.
    let asked: BTreeSet<&str> =
        cases.iter().flat_map(|case| list(case, "evidence")).map(|piece| text(piece, "reference_id")).collect();
    assert!(asked.len() * 3 >= documents.len() * 2, "{} of {} documents asked about", asked.len(), documents.len());
}

#[test]
fn the_documentation_says_what_the_gold_says() {
    let documents: BTreeMap<String, String> = rows("documents.jsonl")
        .iter()
        .map(|row| {
            let path = project().join(text(row, "path"));
            let content = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (text(row, "document_id").to_string(), one_blank(&content))
        })
        .collect();
    let mut faults = Vec::new();
    for case in rows("cases.jsonl") {
        let id = text(&case, "case_id");
        let evidence = list(&case, "evidence");
        assert_eq!(is_answerable(&case), !evidence.is_empty(), "{id}");
        let mut said = list(&case, "answers").is_empty();
        for piece in evidence {
            let (document, passage) = (text(piece, "reference_id"), one_blank(text(piece, "text")));
            let Some(content) = documents.get(document) else {
                faults.push(format!("{id}: there is no document {document}"));
                continue;
            };
            if !content.contains(&passage) {
                faults.push(format!("{id}: {document} does not say {passage:?}"));
            }
            said |= list(&case, "answers").iter().filter_map(Value::as_str).any(|answer| content.contains(answer));
        }
        if !said {
            faults.push(format!("{id}: no gold answer stands in the documents of its evidence"));
        }
    }
    assert!(faults.is_empty(), "mend fixtures/handbook/cases.jsonl:\n{}", faults.join("\n"));
}

#[test]
fn it_runs_and_the_second_run_executes_nothing() {
    let space = Space::new();
    let command = format!("{} --output reports --store store", evaluation().display());
    let first = space.run(&format!("{command} --format json")).expect(0);
    assert!(first.executed().contains_key("retrieve"), "{:?}", first.executed());
    let second = space.run(&command).expect(0);
    assert_eq!(second.executed(), BTreeMap::new());
    assert!(second.stdout.contains("Nothing to do"), "{}", second.stdout);
    assert!(second.stdout.contains("Report: reports/report.html"), "{}", second.stdout);
    assert!(space.path("reports/report.html").is_file());

    let cases = rows("cases.jsonl");
    let answerable = cases.iter().filter(|case| is_answerable(case)).count();
    let outcome: Value = serde_json::from_str(&first.stdout).expect("JSON");
    let headlines = outcome["evaluations"][0]["headlines"].as_array().expect("headlines");
    let mut means: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in headlines {
        assert_eq!(line["scored"], answerable, "{line}");
        assert_eq!(line["skipped"], cases.len() - answerable, "{line}");
        assert_eq!(line["failed"], 0, "{line}");
        let mean = line["mean"].as_f64().expect("a mean");
        assert!(mean > 0.0, "{line}");
        means.entry(text(line, "recipe")).or_default().push(mean);
    }
    assert_eq!(means.keys().collect::<Vec<_>>(), [&"large", &"small"]);
    assert_ne!(means["large"], means["small"], "the size of chunks makes no difference");
}

#[test]
fn what_nothing_answers_is_skipped_and_not_scored_0() {
    let space = Space::new();
    space.run(&format!("{} --output reports", evaluation().display())).expect(0);
    let report: Value = serde_json::from_str(&space.read("reports/report.json")).expect("JSON");
    let cases = rows("cases.jsonl");
    let unanswerable: BTreeSet<&str> =
        cases.iter().filter(|case| !is_answerable(case)).map(|case| text(case, "case_id")).collect();
    let mut seen = 0;
    for result in report["case_results"].as_array().expect("case results") {
        let unscored = result["metadata"]["unscored"].as_array().map_or(0, Vec::len);
        let scored = result["scores"].as_array().map_or(0, Vec::len);
        if unanswerable.contains(text(result, "case_id")) {
            seen += 1;
            assert!(scored == 0 && unscored > 0, "{result}");
            assert!(
                result["metadata"]["unscored"].as_array().is_some_and(|u| u.iter().all(|s| s["state"] == "skipped"))
            );
        } else {
            assert!(scored > 0 && unscored == 0, "{result}");
        }
    }
    assert_eq!(seen, 2 * unanswerable.len(), "each is asked of both recipes");
}
