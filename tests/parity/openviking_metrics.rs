//! Texts, token F1 and refusals as OpenViking's benchmark has them: the lines `normalize`, `f1` and `refusal` of
//! `openviking_metrics.jsonl`. The lines `recall` and `parse_judge` have tests of their own.

use std::fs;

use ragstage_stages::artifact::Gold;
use ragstage_stages::score::{CaseView, EvaluatorSpec, ResponseView, evaluator, openviking_refuses, openviking_text};
use serde_json::Value;

use crate::golden::golden;

/// What `ours` makes of the inputs of all lines of `function` must be what was recorded.
fn compare(function: &str, ours: impl Fn(&Value) -> Value) {
    let Some(path) = golden("openviking_metrics.jsonl") else { return };
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let vectors: Vec<Value> = lines.filter(|vector| vector["fn"] == function).collect();
    assert!(!vectors.is_empty(), "{} has no line of {function}", path.display());
    for vector in vectors {
        assert_eq!(ours(&vector["input"]), vector["expected"], "{}", vector["id"]);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn texts_are_made_comparable_as_openviking_does() {
    // What is no text there is one in Python's form here: with us it is one when it is read.
    let python = |value: &Value| match value {
        Value::Null => "None".to_string(),
        Value::Bool(truth) => if *truth { "True" } else { "False" }.to_string(),
        Value::Number(number) => number.to_string(),
        other => text(other).to_string(),
    };
    compare("normalize", |input| openviking_text(&python(&input["text"])).into());
}

/// To the last bit. A case without gold answers is 0 there and skipped here.
#[test]
fn token_f1_is_that_of_openviking() {
    let evaluator = evaluator(&EvaluatorSpec::parse("openviking_f1").expect("a spec")).expect("an evaluator");
    compare("f1", |input| {
        let answers = input["golds"].as_array().expect("gold answers").iter().map(|gold| text(gold).to_string());
        let gold = Gold { answers: answers.collect(), ..Gold::default() };
        let case = CaseView { case_id: "q", query: "", gold: &gold };
        let response = ResponseView::new(&[], Some(text(&input["prediction"])), &[]);
        let score = evaluator.evaluate(&case, &response).expect("a score");
        score.value.and_then(|value| value.number()).unwrap_or(0.0).into()
    });
}

#[test]
fn refusals_are_told_as_openviking_tells_them() {
    compare("refusal", |input| openviking_refuses(text(&input["text"])).into());
}
