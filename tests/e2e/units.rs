//! Run units: documents and cases that share a knowledge base, and never anybody else's.

use std::collections::BTreeMap;

use serde_json::Value;

use super::small::{self, UNITS};
use super::space::{Space, steps};

/// The ids of the documents that were found for each case, by case.
fn found(space: &Space) -> BTreeMap<String, Vec<String>> {
    let report = space.json("reports/small/report.json");
    let mut found = BTreeMap::new();
    for result in report["case_results"].as_array().expect("case results") {
        let hits = result["response"]["results"].as_array().expect("results");
        let documents: Vec<String> = hits.iter().map(document_of).collect();
        assert!(!documents.is_empty(), "{result}");
        found.insert(result["case_id"].as_str().expect("a case id").to_string(), documents);
    }
    found
}

fn document_of(hit: &Value) -> String {
    hit["source"]["document_id"].as_str().expect("a document id").to_string()
}

/// A document that is a better match for the question of case `built` than its own.
fn plant_a_decoy(space: &Space) {
    space.edit(
        "documents.jsonl",
        "The Anchor Inn has nine rooms.",
        "When was the lighthouse built? The lighthouse built, the lighthouse was built in 1871.",
    );
}

#[test]
fn a_unit_is_built_and_asked_by_itself() {
    let space = Space::new();
    small::write_units(&space);
    let ran = space.run("").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[
            ("sources", 1),
            ("prepare", 1),
            ("materialize", 4),
            ("chunk", 4),
            ("full_text_index", 4),
            ("retrieve", 4),
            ("answer", 4),
            ("score", 8),
            ("aggregate", 1),
            ("report", 1),
        ])
    );
    let report = space.json("reports/small/report.json");
    assert_eq!(report["benchmark"]["build_scope"], "case");
    for (unit, _, cases) in UNITS {
        for result in report["case_results"].as_array().expect("case results") {
            let of_unit = cases.contains(&result["case_id"].as_str().expect("a case id"));
            assert_eq!(result["metadata"]["benchmark_run_unit"] == unit, of_unit, "{result}");
        }
    }
}

#[test]
fn a_unit_never_sees_the_documents_of_another() {
    let space = Space::new();
    small::write_units(&space);
    plant_a_decoy(&space);
    space.run("").expect(0);
    let found = found(&space);
    for (unit, documents, cases) in UNITS {
        for case in cases {
            let foreign: Vec<&String> =
                found[*case].iter().filter(|document| !documents.contains(&document.as_str())).collect();
            assert!(foreign.is_empty(), "case {case} of unit {unit} was given {foreign:?}");
        }
    }
}

#[test]
fn one_unit_over_everything_sees_everything() {
    let space = Space::new();
    small::write(&space);
    plant_a_decoy(&space);
    space.run("").expect(0);
    assert_eq!(found(&space)["built"][0], "inn", "the decoy is the best match where it can be seen");
    assert_eq!(space.json("reports/small/report.json")["benchmark"]["build_scope"], "corpus");
}

#[test]
fn a_document_in_two_units_is_parsed_once() {
    let space = Space::new();
    small::write_units(&space);
    space.edit("units.jsonl", "[\"storm\",\"pier\"]", "[\"storm\",\"pier\",\"inn\"]");
    let ran = space.run("--jobs 1").expect(0);
    assert_eq!(ran.items("materialize").iter().filter(|item| *item == "inn").count(), 1);
    assert_eq!(ran.items("chunk").iter().filter(|item| *item == "inn").count(), 1);
}

#[test]
fn moving_a_case_to_another_unit_asks_it_there_alone() {
    let space = Space::new();
    small::write_units(&space);
    space.run("").expect(0);
    space.edit("units.jsonl", "[\"parrot\",\"planks\"]", "[\"parrot\"]");
    space.edit("units.jsonl", "[\"permit\"]", "[\"permit\",\"planks\"]");
    let ran = space.run("").expect(0);
    for step in ["materialize", "chunk", "full_text_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(ran.items("retrieve"), ["planks"]);
    assert!(ran.executed_labels().contains(&"retrieve harbour/south fine bm25".to_string()));
}

#[test]
fn a_new_unit_leaves_the_others_alone() {
    let space = Space::new();
    small::write_units(&space);
    space.run("").expect(0);
    let unit = "{\"unit_id\": \"more\", \"document_ids\": [\"storm\", \"inn\"], \"case_ids\": [\"parrot\"]}\n";
    space.write("units.jsonl", &(space.read("units.jsonl") + unit));
    let ran = space.run("").expect(0);
    for label in ran.executed_labels().iter().filter(|label| label.contains('/')) {
        assert!(label.contains("harbour/more "), "{label}");
    }
    assert_eq!(ran.items("materialize"), Vec::<String>::new());
    assert_eq!(ran.items("retrieve"), ["parrot"]);
}
