//! Recall as OpenViking's benchmark computes it: the `recall` lines of `openviking_metrics.jsonl`, to the last bit.

use std::fs;

use ragstage_stages::artifact::{Evidence, Gold, Hit};
use ragstage_stages::score::{CaseView, EvaluatorSpec, ResponseView, evaluator};
use serde_json::{Value, json};

use crate::golden::{golden, say};

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text"))
}

#[test]
fn evidence_is_found_where_openviking_finds_it() {
    let Some(path) = golden("openviking_metrics.jsonl") else { return };
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let mut compared = 0;
    for line in lines.filter(|line| line["fn"] == "recall") {
        let input = &line["input"];
        let mut spec = EvaluatorSpec::parse("openviking_recall").expect("a spec");
        for (option, field) in [("threshold", "soft_threshold"), ("minimum", "min_soft_match_tokens")] {
            if let Some(value) = input.get(field) {
                spec.options.insert(option.to_string(), value.clone());
            }
        }
        let evidence =
            texts(&input["evidence"]).map(|text| Evidence { text: Some(text.into()), ..Evidence::default() });
        let gold = Gold { evidence: evidence.collect(), ..Gold::default() };
        let hits = texts(&input["retrieved"]).map(|text| json!({"id": "", "text": text}));
        let results: Vec<Hit> = hits.map(|hit| serde_json::from_value(hit).expect("a hit")).collect();
        let case = CaseView { case_id: "q", query: "", gold: &gold };
        let response = ResponseView::new(&results, None, &[]);
        let score = evaluator(&spec).expect("an evaluator").evaluate(&case, &response).expect("a score");
        let value = score.value.and_then(|value| value.number());
        assert_eq!(value, line["expected"].as_f64(), "{line}");
        compared += 1;
    }
    assert!(compared > 0, "no line in {}", path.display());
    say(&format!("openviking_recall: {compared} records"));
}
