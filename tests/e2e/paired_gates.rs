//! Gates on a difference: exit code 13 where a measure is worse than that of another recipe or of a baseline.

use serde_json::json;

use super::small;
use super::space::Space;

/// The town with a second recipe that finds far less, and gates.
fn town(gates: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "    chunk: {size: 12}\n",
        "    chunk: {size: 12}\n  - name: deaf\n    full_text: {stop_words: [lighthouse, fish, traders, ferry, crossing, museum, parrot, oak, permits, planks, market, entry, groups, steps, built, keeper, climb, opens, takes, take, cost, costs, book, landlady, pay, bending, anglers, sold, named]}\n",
    );
    space.edit(
        "evaluation.yaml",
        "evaluators: [evidence_recall@3, answer_contains]",
        "evaluators: [evidence_recall@3, RR]",
    );
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + &format!("gates:\n{gates}")));
    space
}

fn gate(space: &Space, position: usize) -> serde_json::Value {
    space.json("reports/small/report.json")["ragstage"]["gates"][position].clone()
}

#[test]
fn a_recipe_that_is_worse_than_another() {
    let space = town("  - {measure: RR, recipe: deaf, no_worse_than: fine}\n");
    let ran = space.run("").expect(13);
    assert!(
        ran.stderr.contains("RR no worse than fine (deaf, bm25)") && ran.stderr.contains("to fine over 10 cases"),
        "{}",
        ran.stderr
    );
    let outcome = gate(&space, 0);
    assert_eq!((&outcome["regression"], &outcome["passed"]), (&json!(true), &json!(false)));
    assert!(outcome["paired"]["difference"].as_f64().expect("a number") < 0.0 && outcome["paired"]["cases"] == 10);
    // A margin beyond it passes, and renders the report again: nothing is computed.
    space.edit("evaluation.yaml", "no_worse_than: fine}", "no_worse_than: fine, margin: 0.99}");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), super::space::steps(&[("report", 1)]));
    // The other way round there is nothing to complain of.
    space.edit(
        "evaluation.yaml",
        "recipe: deaf, no_worse_than: fine, margin: 0.99",
        "recipe: fine, no_worse_than: deaf",
    );
    space.run("").expect(0);
    // A bound on the value that fails as well decides the code.
    space.edit(
        "evaluation.yaml",
        "recipe: fine, no_worse_than: deaf",
        "recipe: deaf, no_worse_than: fine, at_least: 0.999",
    );
    space.run("").expect(12);
    assert_eq!(gate(&space, 0)["regression"], json!(null));
    // A warm run says so again.
    space.run("").expect(12).expect_nothing();
}

#[test]
fn imported_responses_are_compared_with_the_only_query_of_a_recipe() {
    let space = Space::new();
    small::write(&space);
    // Each case finds nothing but the lighthouse.
    let ids = space.read("cases.jsonl");
    let ids =
        ids.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a case")["case_id"].clone());
    let line =
        |id| json!({"case_id": id, "results": [{"id": "p", "text": "x", "source": {"document_id": "lighthouse"}}]});
    space.write("old.jsonl", &ids.map(|id| format!("{}\n", line(id))).collect::<String>());
    space.edit(
        "evaluation.yaml",
        "    chunk: {size: 12}\n",
        "    chunk: {size: 12}\n  - {name: old, responses: {path: old.jsonl}}\n",
    );
    space.edit("evaluation.yaml", "evaluators: [evidence_recall@3, answer_contains]", "evaluators: [RR]");
    let gates = "gates:\n  - {measure: RR, recipe: old, no_worse_than: fine}\n  - {measure: RR, recipe: fine, no_worse_than: old}\n";
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + gates));
    space.run("").expect(13);
    assert!(gate(&space, 0)["paired"]["difference"].as_f64().expect("a number") < 0.0, "{}", gate(&space, 0));
    assert_eq!((&gate(&space, 0)["paired"]["cases"], &gate(&space, 0)["passed"]), (&json!(10), &json!(false)));
    assert!(gate(&space, 1)["paired"]["difference"].as_f64().expect("a number") > 0.0);
    assert_eq!(gate(&space, 1)["passed"], json!(true));
}

#[test]
fn a_baseline_is_a_report_of_before() {
    let space = town("  - {measure: RR, recipe: fine, no_worse_than: baseline, rule: non_inferior, margin: 0.01}\n");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("there is no baseline") && ran.stderr.contains("--baseline"), "{}", ran.stderr);
    let ran = space.run("--baseline nowhere/report.json").expect(3);
    assert!(ran.stderr.contains("the baseline does not exist"), "{}", ran.stderr);
    space.edit("evaluation.yaml", "no_worse_than: baseline, rule: non_inferior, margin: 0.01", "at_least: 0");
    space.run("").expect(0);
    space.ragstage("report evaluation.yaml -o main").expect(0);
    space.edit("evaluation.yaml", "at_least: 0", "no_worse_than: baseline, rule: non_inferior, margin: 0.01");
    // Nothing changed: no worse for sure.
    space.run("--baseline main").expect(0);
    assert_eq!(gate(&space, 0)["paired"]["difference"], 0.0);
    space.run("--baseline main/report.json").expect(0).expect_nothing();
    // The recipe gets worse; the file may name the baseline too.
    space.edit("evaluation.yaml", "gates:\n", "baseline: main\ngates:\n");
    space.edit("evaluation.yaml", "chunk: {size: 12}", "full_text: {stop_words: [lighthouse, fish, traders, ferry, crossing, museum, built, steps, climb, open, opens, pay, takes, take]}");
    let ran = space.run("").expect(13);
    assert!(ran.stderr.contains("to baseline over 10 cases"), "{}", ran.stderr);
    // Its own report is no baseline: it would always pass.
    let ran = space.run("--baseline reports/small").expect(3);
    assert!(ran.stderr.contains("it would be compared with itself"), "{}", ran.stderr);
    // A baseline that is none is an error, and no pass.
    space.write("main/report.json", "{}");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("no report: missing field `case_results`"), "{}", ran.stderr);
}

/// Cases of two benchmarks may have the same ids: a baseline of another one would pass in silence.
#[test]
fn a_baseline_of_other_data_is_told_or_refused() {
    let space = town("  - {measure: RR, recipe: fine, no_worse_than: baseline}\n");
    space.edit("evaluation.yaml", "no_worse_than: baseline", "at_least: 0");
    space.run("").expect(0);
    space.ragstage("report evaluation.yaml -o main").expect(0);
    space.edit("evaluation.yaml", "at_least: 0", "no_worse_than: baseline");
    let lints = || space.json("reports/small/report.json")["ragstage"]["lints"].to_string();
    space.run("--baseline main").expect(0);
    assert!(!lints().contains("other-data"), "{}", lints());
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    space.run("--baseline main").expect(0);
    assert!(lints().contains("other-data") && lints().contains("other documents, cases or gold"), "{}", lints());
    space.edit("evaluation.yaml", "name: harbour", "name: village");
    let ran = space.run("--baseline main").expect(3);
    let told = "the baseline is of the benchmark \"harbour\", and this evaluation of \"village\"";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn faults_of_a_gate_are_told() {
    for (entry, expected) in [
        ("{measure: RR, no_worse_than: fien}", "did you mean `fine`?"),
        ("{measure: RR, margin: 0.1, at_least: 0.5}", "`margin` has no meaning without `no_worse_than`"),
        ("{measure: RR, no_worse_than: fine, margin: -1}", "margin"),
        ("{measure: RR, no_worse_than: fine, rule: strict}", "rule"),
    ] {
        let ran = town(&format!("  - {entry}\n")).run("").expect(3);
        assert!(ran.stderr.contains(expected), "{entry}: {}", ran.stderr);
    }
}
