//! `ragstage compare`: two evaluations, or the recipes of one, case by case.

use serde_json::{Value, json};

use super::small::{self, CASE_COUNT};
use super::space::Space;

fn compared(space: &Space, arguments: &str) -> Value {
    space.ragstage(&format!("compare {arguments} --format json")).expect(0).json()
}

/// The town with a second recipe, whose chunks are whole documents.
fn two_recipes() -> Space {
    let space = Space::new();
    small::write(&space);
    small::add_coarse(&space);
    space.edit("evaluation.yaml", "answer_contains]", "answer_contains, token_f1]");
    space.run("").expect(0);
    space
}

#[test]
fn recipes_of_one_evaluation() {
    let space = two_recipes();
    let found = compared(&space, "evaluation.yaml");
    let comparison = &found["comparisons"][0];
    assert_eq!((&comparison["first"], &comparison["second"]), (&json!("fine / bm25"), &json!("coarse / bm25")));
    let report = space.json("reports/small/report.json");
    let values = |recipe: &str, evaluator: &str| -> Vec<f64> {
        let results = report["case_results"].as_array().expect("results").iter();
        let of_recipe = results.filter(|result| result["metadata"]["recipe"] == recipe);
        let number = |value: &Value| value.as_bool().map_or(value.as_f64(), |flag| Some(f64::from(u8::from(flag))));
        let score = |result: &Value| {
            let scores = result["scores"].as_array().expect("scores").clone();
            number(&scores.iter().find(|score| score["name"] == evaluator).expect("a score")["value"])
                .expect("a number")
        };
        of_recipe.map(score).collect()
    };
    for measure in comparison["measures"].as_array().expect("measures") {
        let evaluator = measure["evaluator"].as_str().expect("a name");
        let (fine, coarse) = (values("fine", evaluator), values("coarse", evaluator));
        let differences: Vec<f64> = fine.iter().zip(&coarse).map(|(a, b)| b - a).collect();
        let mean = differences.iter().sum::<f64>() / CASE_COUNT as f64;
        let paired = &measure["paired"];
        assert!((paired["difference"].as_f64().expect("a number") - mean).abs() < 1e-12, "{measure}");
        assert_eq!(paired["wins"], differences.iter().filter(|d| **d > 0.0).count(), "{measure}");
        assert_eq!(paired["losses"], differences.iter().filter(|d| **d < 0.0).count(), "{measure}");
        assert_eq!((&paired["cases"], &paired["exact"]), (&json!(CASE_COUNT), &json!(true)));
        assert!(measure["p_holm"].as_f64() >= paired["p"].as_f64());
    }
    let differences = comparison["differences"].to_string();
    assert!(differences.contains("\"recipe.chunk.size\",\"second\":\"400\""), "{differences}");
    let text = space.ragstage("compare evaluation.yaml").expect(0).stdout;
    assert!(text.contains("recipe.chunk.size: 12 -> 400") && text.contains("shared-answers:"), "{text}");
    // A comparison does not depend on which others there are.
    let alone = compared(&space, "evaluation.yaml --measure token_f1");
    let of = |found: &Value, name: &str| {
        let measures = found["comparisons"][0]["measures"].as_array().expect("measures").clone();
        measures.iter().find(|measure| measure["evaluator"] == name).expect("a measure")["paired"].clone()
    };
    assert_eq!(of(&alone, "token_f1"), of(&found, "token_f1"));
}

#[test]
fn reports_of_other_cases_are_not_compared() {
    let space = two_recipes();
    space.ragstage("report evaluation.yaml -o before").expect(0);
    let cases = space.read("cases.jsonl").replace("\"case_id\":\"", "\"case_id\":\"new-");
    space.write("cases.jsonl", &cases);
    space.run("").expect(0);
    let ran = space.ragstage("compare before evaluation.yaml").expect(3);
    assert!(ran.stderr.contains("have no scored case in common"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_report_kept_from_before_and_the_last_run() {
    let space = two_recipes();
    std::fs::create_dir(space.path("baseline")).expect("a folder");
    for name in ["report.json", "scores.parquet"] {
        std::fs::copy(space.path(&format!("reports/small/{name}")), space.path(&format!("baseline/{name}")))
            .expect("a copy");
    }
    // Nothing changed: every response is the same artifact, and no difference is one.
    let found = compared(&space, "baseline evaluation.yaml");
    for comparison in found["comparisons"].as_array().expect("comparisons") {
        assert_eq!((&comparison["responses"], &comparison["same_responses"]), (&json!(CASE_COUNT), &json!(CASE_COUNT)));
        assert!(
            comparison["measures"]
                .as_array()
                .expect("measures")
                .iter()
                .all(|m| m["paired"]["difference"] == 0.0 && m["paired"]["p"] == 1.0 && m["drifted"] == 0)
        );
        assert_eq!((&comparison["differences"], &comparison["same_data"]), (&json!([]), &json!("yes")));
    }
    // A corrected gold answer: the same responses, one of them scored otherwise.
    space.edit("cases.jsonl", "\"1871\"", "\"1872\"");
    space.run("").expect(0);
    let found = compared(&space, "baseline#fine reports/small#fine --measure answer_contains");
    let measure = &found["comparisons"][0]["measures"][0];
    assert_eq!((&measure["drifted"], &measure["failed_now"][0]["case_id"]), (&json!(1), &json!("built")));
    assert_eq!(found["comparisons"][0]["same_data"], "other_state");
    let text = space.ragstage("compare baseline#fine evaluation.yaml#fine").expect(0).stdout;
    assert!(text.contains("other-data: they are of other documents, cases or gold"), "{text}");
    assert!(text.contains("judge-drift: answer_contains scores 1 case otherwise"), "{text}");
    assert!(text.contains("answer_contains: failed now: built"), "{text}");
    space.edit("evaluation.yaml", "name: harbour", "name: village");
    space.run("").expect(0);
    let text = space.ragstage("compare baseline#fine evaluation.yaml#fine").expect(0).stdout;
    assert!(text.contains("other-data: they are of different benchmarks"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let space = small::evaluated();
    for (arguments, code, expected) in [
        ("evaluation.yaml", 3, "one recipe and query, and nothing to compare it with"),
        ("evaluation.yaml none.json", 3, "no file and no run is called"),
        ("evaluation.yaml#fien evaluation.yaml", 3, "it has fine/bm25"),
        ("evaluation.yaml evaluation.yaml --measure AP", 3, "no such evaluator in common"),
        ("evaluation.yaml documents.json", 3, "no file and no run is called"),
        ("evaluation.yaml --confidence 2", 2, "--confidence"),
    ] {
        let ran = space.ragstage(&format!("compare {arguments}")).expect(code);
        assert!(ran.stderr.contains(expected), "{arguments}: {}", ran.stderr);
    }
    space.write("broken.json", "{\"case_results\": [");
    let ran = space.ragstage("compare evaluation.yaml broken.json").expect(3);
    assert!(ran.stderr.contains("broken.json: no report: EOF"), "{}", ran.stderr);
}
