//! Judges: what is judged is kept, asked again for what changed alone, and a reply that is not what was asked for is a failure and
//! never a number.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request, chat};
use super::small::{CASE_COUNT, case, write};
use super::space::{Ran, Space, steps};

const CHAT: &str = "chat/completions";

/// The town of [`write`], judged by the model at `server` with the given evaluators (lines of YAML).
fn judged(server: &ModelServer, evaluators: &str) -> Space {
    let space = Space::new();
    write(&space);
    space.edit(
        "evaluation.yaml",
        "recipes:\n",
        &format!("models:\n  - {{name: judge, model: m-1, base_url: \"{}\"}}\nrecipes:\n", server.base_url()),
    );
    space.edit(
        "evaluation.yaml",
        "evaluators: [evidence_recall@3, answer_contains]\n",
        &format!("evaluators:\n{evaluators}"),
    );
    space.edit(
        "evaluation.yaml",
        "statistics: {resamples: 100}\n",
        "statistics: {resamples: 100}\nlimits: {judge: {retries: 0, concurrency: 1}}\n",
    );
    space
}

/// Only the first case of the town.
fn one_case(space: &Space) {
    let first = space.read("cases.jsonl").lines().next().expect("a case").to_string();
    space.write("cases.jsonl", &format!("{first}\n"));
}

/// The property of the schema that the reply must have.
fn asks_for(request: &Request, property: &str) -> bool {
    !request.body["response_format"]["json_schema"]["schema"]["properties"][property].is_null()
}

/// A judge that splits a text into two claims, supports the first of any, finds the first passage useful, and grades with 3.
fn sensible(request: &Request) -> Act {
    let schema = &request.body["response_format"]["json_schema"]["schema"]["properties"];
    let reply = if asks_for(request, "claims") {
        // Of each text its own.
        let text =
            request.prompt().rsplit("Text:").next().unwrap_or_default().split("Reply with").next().unwrap_or_default();
        json!({"claims": [format!("One thing: {}", text.trim()), "Another thing."]})
    } else if asks_for(request, "verdicts") {
        let count = schema["verdicts"]["minItems"].as_u64().expect("a count");
        let verdict =
            if schema["verdicts"]["items"]["properties"]["useful"].is_null() { "supported" } else { "useful" };
        json!({"verdicts": (0..count).map(|i| json!({"reason": "so", verdict: i == 0})).collect::<Vec<_>>()})
    } else if asks_for(request, "label") {
        json!({"reasoning": "so", "label": "good"})
    } else {
        json!({"reasoning": "so", "score": 3})
    };
    Act::Say(reply.to_string())
}

fn mean(space: &Space, evaluator: &str) -> Value {
    let report = space.json("reports/small/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
    let of = measures.iter().find(|measure| measure["evaluator"] == evaluator);
    of.unwrap_or_else(|| panic!("no {evaluator}"))["mean"].clone()
}

#[test]
fn each_judge_gives_its_number() {
    let server = ModelServer::new(sensible);
    let space = judged(
        &server,
        "  - {judge: faithfulness, model: judge}\n  - {judge: claim_precision, model: judge}\n  - {judge: claim_recall, model: judge}\n  \
         - {judge: context_recall, model: judge}\n  - {judge: context_precision, model: judge}\n  - {judge: answer_relevance, model: judge}\n  \
         - {judge: correctness, model: judge}\n  - {judge: openviking, model: judge}\n",
    );
    let ran = space.run("").expect(0);
    for (evaluator, expected) in [
        ("faithfulness", 0.5),
        ("claim_precision", 0.5),
        ("claim_recall", 0.5),
        ("context_recall", 0.5),
        ("context_precision", 1.0),
        ("answer_relevance", 0.75),
        ("correctness", 0.75),
        ("openviking", 3.0),
    ] {
        assert_eq!(mean(&space, evaluator), expected, "{evaluator}");
    }
    // The claims of an answer are asked for once, though two judges need them, and so are those of a gold answer. Nothing is asked
    // twice: where two cases have the same answer and passages, they share their verdict too.
    let asked = server.count(CHAT);
    let distinct: BTreeSet<String> = server.requests(CHAT).iter().map(|request| request.body.to_string()).collect();
    assert_eq!(distinct.len(), asked);
    assert!((9 * CASE_COUNT..=10 * CASE_COUNT).contains(&asked), "{asked}");
    assert_eq!(server.requests(CHAT).iter().filter(|request| asks_for(request, "claims")).count(), 2 * CASE_COUNT);
    assert_eq!(ran.items("score").len(), 8 * CASE_COUNT);
    // The reply is kept whole.
    let report = space.json("reports/small/report.json");
    let evaluations = report["case_results"][0]["scores"].as_array().expect("scores");
    let kept = evaluations.iter().find(|one| one["name"] == "correctness").expect("correctness");
    assert_eq!(kept["metadata"]["replies"], json!([json!({"reasoning": "so", "score": 3}).to_string()]), "{kept}");
    space.run("").expect(0).expect_nothing();
    assert_eq!(server.count(CHAT), asked);
}

const RUBRIC: &str = "Grade the tone of this answer to {{ question }}:\n\n{{ answer }}\n\n```json\n{\"type\": \"object\", \
                      \"required\": [\"label\"], \"properties\": {\"reasoning\": {\"type\": \"string\"}, \"label\": {\"enum\": \
                      [\"good\", \"bad\"]}}}\n```\n";

#[test]
fn a_changed_rubric_judges_again_and_does_nothing_else() {
    let server = ModelServer::new(sensible);
    let space = judged(
        &server,
        "  - answer_contains\n  - {judge: rubric, name: tone, rubric: tone.md, model: judge, pass: [good]}\n  - {judge: correctness, \
         model: judge}\n",
    );
    space.write("tone.md", RUBRIC);
    space.run("").expect(0);
    assert_eq!(server.count(CHAT), 2 * CASE_COUNT);
    server.rescript(|_| Act::Say(json!({"reasoning": "so", "label": "bad"}).to_string()));
    space.edit("tone.md", "Grade the tone", "Grade the politeness");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(server.count(CHAT), CASE_COUNT);
    assert!(server.requests(CHAT).iter().all(|request| request.prompt().starts_with("Grade the politeness")));
    let report = space.json("reports/small/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures");
    let tone = measures.iter().find(|measure| measure["evaluator"] == "tone").expect("tone");
    assert_eq!((&tone["labels"][0]["label"], &tone["passed"]), (&json!("bad"), &json!(0)));
}

#[test]
fn samples_have_a_mean_and_a_consistency() {
    let server = ModelServer::new(|request| {
        let score = if request.body["seed"] == 1 { 1 } else { 3 };
        Act::Say(json!({"reasoning": "so", "score": score}).to_string())
    });
    let space = judged(
        &server,
        "  - {judge: correctness, model: judge, samples: 3}\n  - {judge: correctness, model: judge, samples: 3, gives: consistency}\n",
    );
    space.run("").expect(0);
    assert_eq!(server.count(CHAT), 3 * CASE_COUNT);
    assert!((mean(&space, "correctness").as_f64().expect("a mean") - (0.75 + 0.25 + 0.75) / 3.0).abs() < 1e-12);
    // Of the three pairs one agrees.
    assert!((mean(&space, "correctness-consistency").as_f64().expect("a mean") - 1.0 / 3.0).abs() < 1e-12);
}

/// What a judge may say, and what becomes of it: the value of `correctness`, or the kind of its failure and words of its message.
type Reply = (Act, Result<f64, (&'static str, &'static str)>);

fn say(text: &str) -> Act {
    Act::Say(text.to_string())
}

fn completion(message: Value, finish_reason: &str) -> Act {
    Act::Json(json!({"choices": [{"message": message, "finish_reason": finish_reason}]}))
}

fn replies() -> Vec<Reply> {
    let bad = |words| Err(("bad_reply", words));
    vec![
        (say(r#"{"reasoning": "so", "score": 4}"#), Ok(1.0)),
        (say(" {\"score\": 0, \"reasoning\": \"4 of 4 facts are missing\"}\n"), Ok(0.0)),
        (say(r#"{"reasoning": "so", "score": 2.0}"#), Ok(0.5)),
        (say(r#"{"reasoning": "a \"score\": 4 was hoped for", "score": 1}"#), Ok(0.25)),
        // Prose around JSON, and JSON around nothing.
        (say("Here is my verdict: {\"reasoning\": \"so\", \"score\": 4}"), bad("expected a JSON object")),
        (say("{\"reasoning\": \"so\", \"score\": 4} I hope that helps!"), bad("expected a JSON object")),
        (say("```json\n{\"reasoning\": \"so\", \"score\": 4}\n```"), bad("expected a JSON object")),
        (say("4"), bad("expected a JSON object, found 4")),
        (say("\"4\""), bad("expected a JSON object")),
        (say("[{\"reasoning\": \"so\", \"score\": 4}]"), bad("expected a JSON object")),
        (say("INCORRECT"), bad("INCORRECT")),
        (say("The answer lists 2 of the 3 rivers, so I give it a 4."), bad("expected a JSON object")),
        (say(""), bad("expected a JSON object")),
        (say("   "), bad("expected a JSON object")),
        (say("\u{feff}{\"reasoning\": \"so\", \"score\": 4}"), bad("expected a JSON object")),
        (say("<html><body>Bad gateway</body></html>"), bad("<html>")),
        (say("{'reasoning': 'so', 'score': 4}"), bad("expected a JSON object")),
        (say("<think>It is a 4.</think>{\"reasoning\": \"so\", \"score\": 3}"), bad("<think>")),
        // Two verdicts.
        (say(r#"{"reasoning": "so", "score": 4, "score": 0}"#), bad("score")),
        (
            say("{\"reasoning\": \"so\", \"score\": 4}{\"reasoning\": \"no\", \"score\": 0}"),
            bad("expected a JSON object"),
        ),
        // A verdict of another type, on another scale, under another name.
        (say(r#"{"reasoning": "so", "score": "4"}"#), bad("expected an integer at score, found \"4\"")),
        (say(r#"{"reasoning": "so", "score": "４"}"#), bad("expected an integer at score")),
        (say(r#"{"reasoning": "so", "score": true}"#), bad("found true")),
        (say(r#"{"reasoning": "so", "score": null}"#), bad("found null")),
        (say(r#"{"reasoning": "so", "score": [4]}"#), bad("found [4]")),
        (say(r#"{"reasoning": "so", "score": 3.5}"#), bad("found 3.5")),
        (say(r#"{"reasoning": "so", "score": 40}"#), bad("at most 4 at score, found 40")),
        (say(r#"{"reasoning": "so", "score": -1}"#), bad("at least 0 at score, found -1")),
        (say(r#"{"reasoning": "so", "match": "false"}"#), bad("expected `score`, which is missing")),
        (say(r#"{"reasoning": "so", "Score": 4}"#), bad("expected `score`, which is missing")),
        (say(r#"{"score": 4}"#), bad("expected `reasoning`, which is missing")),
        (say(r#"{"reasoning": "so", "score": 4, "confidence": 0.2}"#), bad("expected no `confidence`")),
        (say(r#"{"reasoning": "so", "score": NaN}"#), bad("expected a JSON object")),
        (say(r#"{"verdict": {"reasoning": "so", "score": 4}}"#), bad("which is missing")),
        // What no judge said.
        (completion(json!({"content": "{\"reasoning\": \"it is quite"}), "length"), bad("cut off at `max_tokens`")),
        (completion(json!({"content": null}), "stop"), bad("expected a text")),
        (completion(json!({"content": [{"type": "text", "text": "{\"score\": 4}"}]}), "stop"), bad("expected a text")),
        (Act::Json(json!({"choices": []})), bad("expected `choices`")),
        (Act::Body("{\"choices\": [".to_string()), bad("")),
        (
            completion(json!({"refusal": "I cannot judge this.", "content": null}), "stop"),
            Err(("refused", "I cannot judge this.")),
        ),
        (completion(json!({"content": ""}), "content_filter"), Err(("refused", "content filter"))),
        // An error with a status of success.
        (
            Act::Json(
                json!({"error": {"code": 429, "type": "insufficient_quota", "message": "You exceeded your quota"}}),
            ),
            Err(("", "You exceeded your quota")),
        ),
    ]
}

#[test]
fn replies_that_are_not_what_was_asked_for_are_failures_and_never_numbers() {
    let asked = |number: usize| format!("When was the lighthouse built, asked for reply ({number})?");
    let acts: Vec<Act> = replies().into_iter().map(|(act, _)| act).collect();
    let server = ModelServer::new(move |request| {
        let of = |number: &usize| request.prompt().contains(&asked(*number));
        acts[(0..acts.len()).find(of).expect("a question")].clone()
    });
    let space = judged(&server, "  - {judge: correctness, model: judge, attempts: 2}\n");
    // Every kind of failure, and nobody gives up.
    space.edit("evaluation.yaml", "judge: {retries: 0,", "judge: {breaker: 0, retries: 0,");
    let count = replies().len();
    let cases = (0..count).map(|i| case(&format!("{i}"), &asked(i), "gold", ("lighthouse", "steps"), "fact"));
    space.write("cases.jsonl", &cases.collect::<String>());
    let ran = space.run("").expect(11);
    assert!(ran.stdout.contains("coverage"), "{}", ran.stdout);
    let report = space.json("reports/small/report.json");
    assert_eq!(report["score_summary"], json!({}));
    for (i, (act, expected)) in replies().into_iter().enumerate() {
        let result = &report["case_results"][i];
        assert_eq!(result["case_id"], i.to_string());
        match expected {
            Ok(value) => assert_eq!(result["scores"][0]["value"], value, "{act:?}"),
            Err((kind, words)) => {
                assert_eq!(result["scores"], json!([]), "{act:?}");
                let error = &result["metadata"]["unscored"][0]["error"];
                let message = error["message"].as_str().unwrap_or_default();
                assert!(error.to_string().contains(kind) && message.contains(words), "{act:?}: {error}");
            }
        }
    }
}

#[test]
fn a_reply_that_does_not_fit_is_asked_for_again() {
    let server = ModelServer::new(|request| match request.body["seed"].as_u64() {
        Some(2) => Act::Say(json!({"reasoning": "so", "score": 2}).to_string()),
        _ => Act::Say("INCORRECT".to_string()),
    });
    let space = judged(&server, "  - {judge: correctness, model: judge, attempts: 3}\n");
    one_case(&space);
    space.run("").expect(0);
    assert_eq!((server.count(CHAT), mean(&space, "correctness")), (3, json!(0.5)));
    space.run("").expect(0).expect_nothing();
}

#[test]
fn an_outage_gives_no_number_and_the_next_run_asks_what_is_missing() {
    let server =
        ModelServer::new(
            |request| if request.number <= 4 { sensible(request) } else { Act::Status(503, "", "{}".into()) },
        );
    let space = judged(&server, "  - {judge: correctness, model: judge}\n");
    let ran: Ran = space.run("").expect(11);
    assert!(!ran.stdout.contains("0.7500"), "{}", ran.stdout);
    assert_eq!(space.json("reports/small/report.json")["score_summary"], json!({}));
    server.rescript(sensible);
    space.score("").expect(0);
    assert_eq!((server.count(CHAT), mean(&space, "correctness")), (CASE_COUNT - 4, json!(0.75)));
    // A judge that was never there.
    let gone =
        judged(&ModelServer::new(|_| Act::Status(401, "", "{}".into())), "  - {judge: correctness, model: judge}\n");
    let ran = gone.run("").expect(20);
    assert!(!ran.stdout.contains("0.0000"), "{}", ran.stdout);
}

#[test]
fn replies_in_a_fence_are_taken_from_a_model_without_structured_output() {
    let server = ModelServer::new(|request| {
        assert!(
            request.body["response_format"].is_null() && request.prompt().contains("JSON Schema"),
            "{}",
            request.body
        );
        Act::Json(chat("```json\n{\"reasoning\": \"so\", \"score\": 4}\n```", request))
    });
    let space = judged(&server, "  - {judge: correctness, model: judge}\n");
    space.edit("evaluation.yaml", "model: m-1,", "model: m-1, structured: false,");
    space.run("").expect(0);
    assert_eq!(mean(&space, "correctness"), 1.0);
}

#[test]
fn faults_of_the_file_say_what_to_do() {
    let server = ModelServer::healthy();
    for (entry, expected) in [
        ("{judge: correctness}", "missing `model`, the chat model that judges"),
        ("{judge: correctness, model: jugde}", "did you mean `judge`?"),
        ("{judge: corectness, model: judge}", "did you mean `correctness`?"),
        ("{judge: rubric, model: judge}", "missing `rubric`, the file that has it"),
        ("{judge: rubric, model: judge, rubric: none.md}", "cannot be read"),
        ("{judge: correctness, model: judge, rubric: tone.md}", "`rubric` has no meaning without `judge: rubric`"),
        ("{judge: rubric, model: judge, rubric: tone.md, pass: 3}", "expected a list of some of good, bad"),
        ("{judge: correctness, model: judge, gives: consistency}", "set `samples` to 2 or more"),
        ("{judge: correctness, model: judge, cutoff: 3}", "cutoff"),
        ("{name: token_f1, model: judge}", "`model` has no meaning without `judge`"),
        ("{model: judge}", "missing `name` or `judge`"),
    ] {
        let space = judged(&server, &format!("  - {entry}\n"));
        space.write("tone.md", RUBRIC);
        let ran = space.run("").expect(3);
        assert!(ran.stderr.contains(expected), "{entry}: {}", ran.stderr);
    }
    let space = judged(&server, "  - {judge: rubric, model: judge, rubric: tone.md}\n");
    space.write("tone.md", "Grade {{ anser }}.\n");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("tone.md:1") && ran.stderr.contains("`anser`"), "{}", ran.stderr);
    assert_eq!(server.total(), 0);
}
