//! `ragstage score --cases --responses` scores what another system said, without store and evaluation file.

use serde_json::{Value, json};

use crate::space::Space;

fn space() -> Space {
    let space = Space::new();
    let cases = [
        json!({"case_id": "a", "query": "q", "expected": {"answers": ["high tide"], "evidence": [{"reference_id": "d1"}]}}),
        json!({"case_id": "b", "query": "q", "expected": {"answers": ["noon"], "evidence": [{"text": "at noon"}]}}),
        json!({"case_id": "c", "query": "q", "expected": {"answers": ["dusk"], "evidence": [{"reference_id": "d3"}]}}),
        json!({"case_id": "d", "query": "q"}),
    ];
    let hit =
        |id: &str, text: &str, document: &str| json!({"id": id, "text": text, "source": {"document_id": document}});
    let responses = [
        json!({"case_id": "b", "answer": "it is Noon", "results": [hit("1", "not this", "d9"), hit("2", "it was at  NOON", "d8")]}),
        json!({"case_id": "a", "answer": "High tide", "results": [hit("1", "x", "d2")], "latency_ms": 3}),
        json!({"case_id": "c", "error": "timeout"}),
        json!({"case_id": "d", "answer": "anything"}),
    ];
    let lines = |values: &[Value]| values.iter().map(|value| format!("{value}\n")).collect::<String>();
    space.write("cases.jsonl", &lines(&cases));
    space.write("responses.jsonl", &lines(&responses));
    space
}

const COMMAND: &str = "score --cases cases.jsonl --responses responses.jsonl";

/// A share of scored cases that these responses reach.
const LOW: &str = "--coverage-floor 0.2";

#[test]
fn responses_are_scored_against_gold() {
    let space = space();
    let evaluators = "--evaluator answer_contains --evaluator token_f1 --evaluator evidence_recall@5";
    let ran = space.ragstage(&format!("{COMMAND} {evaluators} {LOW} --format json --per-case scores.jsonl"));
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""), "one case failed");
    let scores: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(scores["format"], "ragstage.score.cases.v1");
    let of = |place: usize| &scores["evaluators"][place];
    let counts = json!({"scored": 2, "failed": 1, "skipped": 1});
    for place in 0..3 {
        for (name, count) in counts.as_object().expect("counts") {
            // A failed case has failed for every evaluator, whether or not it has gold.
            assert_eq!(of(place)[name], *count, "{place} {name}");
        }
        assert!((of(place)["coverage"].as_f64().expect("coverage") - 2.0 / 3.0).abs() < 1e-12);
    }
    // Of `it is Noon` one word of three is right, and it is the one that is wanted: F1 is 2 * 1/3 / (4/3).
    let means = [1.0, (1.0 + 0.5) / 2.0, 0.5];
    for (place, mean) in means.into_iter().enumerate() {
        assert!((of(place)["mean"].as_f64().expect("a mean") - mean).abs() < 1e-12, "{}", of(place));
    }
    let lines: Vec<Value> =
        space.read("scores.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: Vec<_> = lines.iter().map(|line| line["case_id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(lines[0]["scores"]["evidence_recall@5"]["value"], 0.0);
    assert_eq!(lines[2]["scores"]["token_f1"]["error"], "upstream: timeout");
    assert_eq!(lines[3]["scores"]["token_f1"]["state"], "skipped");
    assert!(!space.path(".ragstage").exists());
    let again = space.ragstage(&format!("{COMMAND} {evaluators} {LOW} --format json --jobs 1"));
    assert_eq!(again.stdout, ran.stdout);
}

/// As in evaluations: a mean over what happened to be scored must not stand for all.
#[test]
fn a_mean_under_the_coverage_floor_is_withheld() {
    let space = space();
    let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains --format json"));
    assert_eq!(ran.code, 11);
    assert!(
        ran.stderr.contains("coverage is under its floor") && ran.stderr.contains("--coverage-floor"),
        "{}",
        ran.stderr
    );
    let scores: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let found = &scores["evaluators"][0];
    assert_eq!((&found["mean"], &found["why_not"]), (&Value::Null, &json!("coverage 0.6667 is under 0.9500")));
    assert_eq!((&found["scored"], &found["failed"]), (&json!(2), &json!(1)));
    let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains"));
    assert!(ran.stdout.contains("(coverage 0.6667 is under 0.9500)"), "{}", ran.stdout);
    for (floor, code) in [("0.66", 10), ("0.67", 11), ("0", 10), ("1", 11), ("1.5", 2), ("nan", 2)] {
        let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains --coverage-floor {floor}"));
        assert_eq!(ran.code, code, "{floor}: {}", ran.stderr);
    }
    // What is left out is in no share.
    space.write("responses.jsonl", "{\"case_id\": \"a\", \"answer\": \"high tide\"}\n");
    assert_eq!(space.ragstage(&format!("{COMMAND} --evaluator answer_contains --missing skip")).code, 0);
    space.write("responses.jsonl", "{\"case_id\": \"z\", \"answer\": \"high tide\"}\n");
    for missing in ["zero", "skip"] {
        let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains --missing {missing}"));
        assert_eq!(ran.code, 11, "{missing}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing was scored: no case has a response"), "{}", ran.stderr);
    }
}

#[test]
fn missing_cases_fail_or_are_left_out_and_strangers_are_told() {
    let space = space();
    space.write("responses.jsonl", "{\"case_id\": \"a\", \"answer\": \"high tide\"}\n{\"case_id\": \"z\"}\n");
    let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains {LOW}"));
    assert_eq!(ran.code, 10);
    assert!(ran.stderr.contains("3 cases have no response in responses.jsonl; such count as failed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 response has no case and no score: z (line 2)"), "{}", ran.stderr);
    let row: Vec<&str> = ran.stdout.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row, ["answer_contains", "1.0000", "1", "3", "0", "25.0", "%"]);
    let ran = space.ragstage(&format!("{COMMAND} --evaluator answer_contains --missing skip"));
    assert_eq!(ran.code, 0);
    let row: Vec<&str> = ran.stdout.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row, ["answer_contains", "1.0000", "1", "0", "0", "100.0", "%"]);
}

#[test]
fn faults_of_both_files_and_of_flags_are_told() {
    let space = space();
    space.write("responses.jsonl", "{\"case_id\": \"a\", \"answr\": \"x\"}\n{\"case_id\": \"a\"\n");
    let ran = space.ragstage(COMMAND);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    for told in ["responses.jsonl:1:24: unknown key `answr`", "responses.jsonl:2:16: invalid JSON: EOF"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    for (arguments, told) in [
        ("score --cases cases.jsonl", "--responses FILE are needed"),
        ("score --cases cases.jsonl --responses r --evaluator f1", "did you mean token_f1?"),
        ("score --cases cases.jsonl --responses r --events e", "--events needs an evaluation file"),
        ("score evaluation.yaml --cases cases.jsonl --responses r", "an evaluation file (evaluation.yaml)"),
    ] {
        let ran = space.ragstage(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{arguments}: {}", ran.stderr);
    }
    assert_eq!(space.ragstage("score --cases cases.jsonl --responses none.jsonl").code, 3);
}

#[test]
fn scores_never_go_over_what_is_read() {
    let space = space();
    for read in ["cases.jsonl", "responses.jsonl", "./responses.jsonl"] {
        let before = space.read(read);
        let ran = space.ragstage(&format!("{COMMAND} --evaluator token_f1 --per-case {read}"));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("would write over a file that is read"), "{}", ran.stderr);
        assert_eq!(space.read(read), before, "{read}");
    }
}
