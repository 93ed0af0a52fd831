//! Judges: replies are kept and asked for once, claims are shared, a changed rubric is judged again and nothing else is; and what
//! a judge says wrongly, or does not say at all, is never a number.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request, chat};
use super::small::{self, CASE_COUNT};
use super::space::{Ran, Space, steps};

const CHAT: &str = "chat/completions";

/// The town of [`small::write`] with `evaluators`, judged by the model at `server`.
fn town(server: &ModelServer, evaluators: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    let models = format!("models: [{{name: judge, model: j-1, base_url: \"{}\"}}]\n", server.base_url());
    space.edit("evaluation.yaml", "recipes:\n", &format!("{models}recipes:\n"));
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", evaluators);
    space.write("tone.md", "---\nmax: 4\npasses: 3\n---\nIs the answer kind?\n");
    space
}

fn fair_server() -> ModelServer {
    ModelServer::new(|request| Act::Say(request.judgement().to_string()))
}

fn again(server: &ModelServer) {
    server.rescript(|request| Act::Say(request.judgement().to_string()));
}

/// The names of the schemas that were asked for, counted.
fn asked(server: &ModelServer) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for request in server.requests(CHAT) {
        *counts.entry(request.schema().unwrap_or("none").to_string()).or_default() += 1;
    }
    counts
}

fn counts(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(name, count)| (name.to_string(), *count)).collect()
}

/// The score of a case by an evaluator in the report of `name`.
fn score(space: &Space, name: &str, case: &str, evaluator: &str) -> Value {
    let report = space.json(&format!("reports/{name}/report.json"));
    let cases = report["case_results"].as_array().expect("cases").clone();
    let case = cases.into_iter().find(|found| found["case_id"] == case).expect("the case");
    let scores = case["scores"].as_array().expect("scores").clone();
    scores.into_iter().find(|score| score["name"] == evaluator).unwrap_or_default()
}

#[test]
fn a_changed_rubric_is_judged_again_and_nothing_else_is() {
    let server = fair_server();
    let rubric = "{judge: rubric, name: tone, rubric: tone.md, model: judge}";
    let space = town(&server, &format!("[answer_contains, {{judge: correctness, model: judge}}, {rubric}]"));
    space.run("").expect(0);
    assert_eq!(asked(&server), counts(&[("grade", 2 * CASE_COUNT)]));
    let found = score(&space, "small", "built", "correctness");
    assert_eq!((&found["value"], &found["passed"]), (&json!(0.75), &json!(true)));
    assert_eq!(found["metadata"]["reasoning"], "so it is");
    assert_eq!(found["metadata"]["reply"]["text"], "{\"reasoning\":\"so it is\",\"score\":3}");
    assert_eq!(score(&space, "small", "built", "tone")["value"], 3.0);
    space.run("").expect(0).expect_nothing();
    // How often one insists is no matter.
    again(&server);
    space.edit(
        "evaluation.yaml",
        "{judge: correctness, model: judge}",
        "{judge: correctness, model: judge, attempts: 5}",
    );
    space.run("").expect(0).expect_nothing();

    server.rescript(|_| Act::Say("{\"reasoning\": \"less so\", \"score\": 3}".to_string()));
    space.write("tone.md", "---\nmax: 4\npasses: 3\n---\nIs the answer polite?\n");
    let plan = space.ragstage("plan --format json").expect(0).json();
    let pools = &plan["totals"]["pools"];
    assert_eq!((pools[0]["pool"].as_str(), &pools[0]["calls"]), (Some("judge"), &json!(CASE_COUNT)), "{pools}");
    assert!(pools[0]["spend"]["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{pools}");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.executed_labels().iter().filter(|label| label.ends_with(" tone")).count(), 1);
    assert_eq!(server.count(CHAT), CASE_COUNT);
    assert!(server.requests(CHAT).iter().all(|request| request.prompt().contains("Is the answer polite?")));
    // What passes is in no request: the same replies mean something else.
    again(&server);
    space.edit("tone.md", "passes: 3", "passes: 4");
    let ran = space.score("").expect(0);
    assert_eq!((ran.row_counts(), server.total()), (steps(&[("score", CASE_COUNT)]), 0));
    assert_eq!(score(&space, "small", "built", "tone")["passed"], false);
    // So does which side of the bound is the good one.
    space.edit("tone.md", "passes: 4", "passes: 4\nhigher_is_better: false");
    let ran = space.score("").expect(0);
    assert_eq!((ran.row_counts(), server.total()), (steps(&[("score", CASE_COUNT)]), 0));
    assert_eq!(score(&space, "small", "built", "tone")["passed"], true);
    // Forced, it asks again.
    let ran = space.score("--force score").expect(0);
    assert!(ran.executed()["score"] >= 1);
    assert_eq!(server.count(CHAT), 2 * CASE_COUNT);
}

#[test]
fn two_judges_with_the_same_fault_are_two_lints_of_one_report() {
    let server = fair_server();
    let space =
        town(&server, "[answer_contains, {judge: correctness, model: judge}, {judge: openviking, model: second}]");
    let second = format!("{{name: second, model: gpt-4o-mini, base_url: \"{}\"}}]", server.base_url());
    space.edit("evaluation.yaml", "model: j-1", "model: gpt-4o");
    space.edit("evaluation.yaml", "}]\nrecipes:", &format!("}}, {second}\nrecipes:"));
    space.run("").expect(0);
    let lints = space.json("reports/small/report.json")["ragstage"]["lints"].clone();
    let floating = lints.as_array().expect("lints").iter().filter(|lint| lint["name"] == "floating-model").count();
    assert_eq!(floating, 2, "{lints}");
    space.run("").expect(0).expect_nothing();
}

#[test]
fn claims_are_shared_by_the_judges_that_need_them() {
    let server = fair_server();
    let space = town(&server, "[{judge: faithfulness, model: judge}]");
    space.run("").expect(0);
    assert_eq!(asked(&server), counts(&[("claims", CASE_COUNT), ("claim_verdicts", CASE_COUNT)]));
    let found = score(&space, "small", "built", "faithfulness");
    assert_eq!(found["value"], 0.5);
    assert_eq!(
        found["metadata"]["claims"],
        json!([{"claim": "It says: The lighthouse was built in 1871.", "supported": true, "reason": "so it is"},
               {"claim": "It is old.", "supported": false, "reason": "so it is"}])
    );
    assert!(found["metadata"]["claims_reply"]["text"].as_str().expect("a reply").contains("It is old."));
    // The same answers by another judge of claims: their claims are known.
    again(&server);
    space.edit("evaluation.yaml", "evaluators: [", "evaluators: [{judge: claim_precision, model: judge}, ");
    space.run("").expect(0);
    assert_eq!(asked(&server), counts(&[("claim_verdicts", CASE_COUNT)]));
    // The claims of gold answers are others, and shared by the two that need them, in one run too.
    again(&server);
    let more = "evaluators: [{judge: claim_recall, model: judge}, {judge: context_recall, model: judge}, ";
    space.edit("evaluation.yaml", "evaluators: [", more);
    space.run("").expect(0);
    // An answer that is the only passage makes two judges ask the same, which is one question.
    let seen = asked(&server);
    assert_eq!((seen.len(), seen["claims"]), (2, CASE_COUNT));
    assert!((CASE_COUNT..=2 * CASE_COUNT).contains(&seen["claim_verdicts"]), "{seen:?}");
    space.run("").expect(0).expect_nothing();
}

#[test]
fn every_judge_gives_a_number_and_samples_are_compared() {
    let server = ModelServer::new(|request| {
        let mut reply = request.judgement();
        // The second and third judgement have seeds.
        if request.body["seed"].as_u64().is_some_and(|seed| seed >= 1 << 17) {
            reply["score"] = 0.into();
        }
        Act::Say(reply.to_string())
    });
    let space = town(
        &server,
        "[{judge: context_precision, model: judge}, {judge: answer_relevance, model: judge}, {judge: openviking, model: judge}, \
         {judge: correctness, name: thrice, samples: 3, model: judge, labels: human.csv}]",
    );
    space.write("human.csv", "case_id,label,who\nbuilt,3,Ada\nsteps,0,Ada\nopens,2,Ada\nnobody,1,Ada\n");
    let plan = space.ragstage("plan --format json").expect(0);
    assert!(plan.stdout.contains("\"judge\""), "{}", plan.stdout);
    space.run("").expect(0);
    let value = |evaluator: &str| score(&space, "small", "built", evaluator)["value"].clone();
    // Useful, useless, useful.
    assert_eq!(score(&space, "small", "parrot", "context_precision")["value"], (1.0 + 2.0 / 3.0) / 2.0);
    assert_eq!((value("answer_relevance"), value("openviking")), (json!(0.75), json!(3.0)));
    let found = score(&space, "small", "built", "thrice");
    assert_eq!((&found["value"], &found["passed"]), (&json!(0.5), &json!(true)));
    assert_eq!(found["metadata"]["consistency"], json!({"same": 1.0 / 3.0, "min": 0.0, "max": 0.75}));
    assert_eq!(asked(&server), counts(&[("passage_verdicts", CASE_COUNT), ("grade", 5 * CASE_COUNT)]));
    // The judge always says 3, 3 and 0, which is 2; people say 3, 0 and 2 of three cases.
    let agreement = space.json("reports/small/report.json")["ragstage"]["human_agreement"][0].clone();
    assert_eq!(agreement["evaluator"], "thrice");
    assert_eq!((&agreement["cases"], &agreement["unlabelled"]), (&json!(3), &json!(CASE_COUNT - 3)));
    assert_eq!(agreement["kappa"], 0.0);
    assert_eq!(agreement["unknown"], json!([{"case_id": "nobody", "file": "human.csv", "line": 5}]));
    // What each of them took is in the table of tokens and cost.
    let usage = space.json("reports/small/report.json")["ragstage"]["usage"]["rows"].clone();
    let usage = usage.as_array().expect("usage").iter().filter(|row| row["part"] == "judge");
    let calls: Vec<(&Value, &Value, &Value)> =
        usage.map(|row| (&row["evaluator"], &row["cases"], &row["calls"])).collect();
    let expected = [("context_precision", 1), ("answer_relevance", 1), ("openviking", 1), ("thrice", 3)]
        .map(|(evaluator, each)| (json!(evaluator), json!(CASE_COUNT), json!(each * CASE_COUNT)));
    assert_eq!(calls, expected.each_ref().map(|(evaluator, cases, calls)| (evaluator, cases, calls)));
    // Labels are in no request and in no score.
    server.rescript(|_| Act::Status(500, "", String::new()));
    space.edit("human.csv", "steps,0", "steps,1");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed(), server.total()), (steps(&[("report", 1)]), 0));
}

/// What becomes of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expect {
    /// A failed score of this class, after this many requests.
    Failed(&'static str, usize),
    /// A grade.
    Grade(u8),
}

/// A reply of a judge, and what becomes of it by a model with structured output and by one without.
type Nasty = (&'static str, Box<dyn Fn(&Request) -> Act + Send + Sync>, Expect, Expect);

fn nasty() -> Vec<Nasty> {
    const BAD: Expect = Expect::Failed("bad_reply", 2);
    let say = |text: &'static str| move |_: &Request| Act::Say(text.to_string());
    let edited = |edit: fn(&mut Value)| {
        move |request: &Request| {
            let mut answer = chat("{\"reasoning\": \"r\", \"score\": 4}", request);
            edit(&mut answer["choices"][0]);
            Act::Json(answer)
        }
    };
    let both = |name: &'static str, act: Box<dyn Fn(&Request) -> Act + Send + Sync>, expect: Expect| -> Nasty {
        (name, act, expect, expect)
    };
    let bad = |name: &'static str, text: &'static str| both(name, Box::new(say(text)), BAD);
    vec![
        both("as asked for", Box::new(say("{\"reasoning\": \"r\", \"score\": 4}")), Expect::Grade(4)),
        both(
            "white space around",
            Box::new(say(" \n{\"score\": 0, \"reasoning\": \"4 of 4 missed\"}\n")),
            Expect::Grade(0),
        ),
        ("a fence", Box::new(say("```json\n{\"reasoning\": \"r\", \"score\": 3}\n```")), BAD, Expect::Grade(3)),
        bad("prose before", "Sure! {\"reasoning\": \"r\", \"score\": 4}"),
        bad("prose after", "{\"reasoning\": \"r\", \"score\": 4} Hope this helps."),
        bad("prose around a fence", "Here:\n```json\n{\"reasoning\": \"r\", \"score\": 4}\n```\nBye"),
        bad("prose alone", "The answer lists 2 of the 3, so I give it a 4."),
        bad("a digit", "4"),
        bad("a word", "INCORRECT"),
        bad("a word that holds another", "{\"reasoning\": \"r\", \"score\": \"INCORRECT\"}"),
        bad("two verdicts", "{\"reasoning\": \"r\", \"score\": 0}\n{\"reasoning\": \"r\", \"score\": 4}"),
        bad("two verdicts in a list", "[{\"reasoning\": \"r\", \"score\": 0}, {\"reasoning\": \"r\", \"score\": 4}]"),
        bad("a key twice", "{\"reasoning\": \"r\", \"score\": 0, \"score\": 4}"),
        bad("another key", "{\"reasoning\": \"r\", \"match\": \"false\"}"),
        bad("a key too many", "{\"reasoning\": \"r\", \"score\": 4, \"confidence\": 1}"),
        bad("a key too few", "{\"score\": 4}"),
        bad("a key in capitals", "{\"reasoning\": \"r\", \"SCORE\": 4}"),
        bad("a number as text", "{\"reasoning\": \"r\", \"score\": \"4\"}"),
        bad("full-width digits", "{\"reasoning\": \"r\", \"score\": \"\u{ff14}\"}"),
        bad("full-width digits alone", "{\"reasoning\": \"r\", \"score\": \u{ff14}}"),
        bad("a fraction", "{\"reasoning\": \"r\", \"score\": 3.5}"),
        bad("a whole fraction", "{\"reasoning\": \"r\", \"score\": 4.0}"),
        bad("out of range", "{\"reasoning\": \"r\", \"score\": 40}"),
        bad("below the range", "{\"reasoning\": \"r\", \"score\": -1}"),
        bad("beyond 64 bits", "{\"reasoning\": \"r\", \"score\": 99999999999999999999}"),
        bad("a truth value", "{\"reasoning\": \"r\", \"score\": true}"),
        bad("null", "{\"reasoning\": \"r\", \"score\": null}"),
        bad("NaN", "{\"reasoning\": \"r\", \"score\": NaN}"),
        bad("a list", "{\"reasoning\": \"r\", \"score\": [4]}"),
        bad("reasoning of another type", "{\"reasoning\": [\"r\"], \"score\": 4}"),
        bad("JSON in a text", "\"{\\\"reasoning\\\": \\\"r\\\", \\\"score\\\": 4}\""),
        bad("one level too deep", "{\"result\": {\"reasoning\": \"r\", \"score\": 4}}"),
        bad("single quotes", "{'reasoning': 'r', 'score': 4}"),
        bad("a comment", "{\"reasoning\": \"r\", /* good */ \"score\": 4}"),
        bad("a byte order mark", "\u{feff}{\"reasoning\": \"r\", \"score\": 4}"),
        bad("a control character", "{\"reasoning\": \"a\nb\", \"score\": 4}"),
        bad("thoughts before", "<think>It is a 4.</think>{\"reasoning\": \"r\", \"score\": 4}"),
        bad("HTML", "<html><body>502 Bad Gateway</body></html>"),
        bad("a quota told as a text", "You exceeded your current quota, please check your plan (code 4)."),
        bad("empty", ""),
        bad("blank", " \n\t"),
        bad("cut off in the middle", "{\"reasoning\": \"r\", \"score\": 4"),
        both(
            "cut off by length",
            Box::new(edited(|choice| {
                choice["message"]["content"] = json!("{\"reasoning\": \"r\", \"score\": 4");
                choice["finish_reason"] = json!("length");
            })),
            Expect::Failed("bad_reply", 1),
        ),
        both(
            "null content",
            Box::new(edited(|choice| choice["message"]["content"] = Value::Null)),
            Expect::Failed("bad_reply", 1),
        ),
        both(
            "list content",
            Box::new(edited(|choice| {
                choice["message"]["content"] = json!([{"type": "text", "text": "{\"score\": 4}"}])
            })),
            Expect::Failed("bad_reply", 1),
        ),
        both(
            "a refusal",
            Box::new(edited(|choice| choice["message"]["refusal"] = json!("I must not"))),
            Expect::Failed("refused", 1),
        ),
        both(
            "a content filter",
            Box::new(edited(|choice| choice["finish_reason"] = json!("content_filter"))),
            Expect::Failed("refused", 1),
        ),
        both(
            "a quota error as 200",
            Box::new(|_| {
                Act::Json(json!({"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}))
            }),
            Expect::Failed("refused", 1),
        ),
        both(
            "a rate limit as 200",
            Box::new(|_| Act::Json(json!({"error": {"code": 429, "message": "slowly"}}))),
            Expect::Failed("rate_limited", 1),
        ),
        both("no choice", Box::new(|_| Act::Json(json!({"choices": []}))), Expect::Failed("bad_reply", 1)),
        both("no JSON", Box::new(|_| Act::Body("{\"choices\": [".to_string())), Expect::Failed("bad_reply", 1)),
    ]
}

fn question(number: usize) -> String {
    format!("What stands in place {number:03} of the street?")
}

/// `count` cases with a question each, all answered with the same sentence.
fn street(server: &ModelServer, count: usize, structured: bool, evaluators: &str) -> Space {
    let space = Space::new();
    let document = json!({"document_id": "street", "name": "street.txt", "media_type": "text/plain",
                          "text": "Of the street every place is told."});
    space.write("documents.jsonl", &format!("{document}\n"));
    let case = |number: usize| {
        let case_id = format!("c{number:03}");
        format!("{}\n", json!({"case_id": case_id, "query": question(number), "expected": {"answers": ["a lamp"]}}))
    };
    space.write("cases.jsonl", &(1..=count).map(case).collect::<String>());
    space.write(
        "evaluation.yaml",
        &format!(
            "name: street\nbenchmark: {{adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}}\n\
             models: [{{name: judge, model: j-1, base_url: \"{}\", structured: {structured}}}]\n\
             recipe: {{}}\nevaluators: {evaluators}\nstatistics: {{resamples: 10}}\n\
             limits: {{judge: {{concurrency: 1, retries: 0}}}}\n",
            server.base_url()
        ),
    );
    space
}

fn fair_grade() -> String {
    json!({"reasoning": "so it is", "score": 2}).to_string()
}

fn is_about(request: &Request, number: usize) -> bool {
    request.prompt().contains(&question(number))
}

#[test]
fn a_nasty_reply_is_no_number() {
    for structured in [true, false] {
        let replies = nasty();
        assert!(replies.len() >= 30);
        // Every second case is answered well: a judge that fails time after time is given up.
        let count = 2 * replies.len();
        let expected: Vec<(&str, Expect)> =
            replies.iter().map(|(name, _, with, without)| (*name, if structured { *with } else { *without })).collect();
        let server = ModelServer::new(move |request| {
            let found = replies.iter().enumerate().find(|(at, _)| is_about(request, 2 * at + 1));
            found.map_or_else(|| Act::Say(fair_grade()), |(_, (_, act, ..))| act(request))
        });
        let space = street(&server, count, structured, "[{judge: correctness, model: judge, attempts: 2}]");
        let ran = space.run("").expect(11);
        let failures: BTreeMap<String, Value> = ran
            .of("row_failed")
            .into_iter()
            .map(|event| (event["item"].as_str().unwrap_or_default().to_string(), event["error"].clone()))
            .collect();
        for (number, (name, expect)) in (1..).step_by(2).zip(&expected) {
            let case = format!("c{number:03}");
            let requests = server.requests(CHAT).iter().filter(|request| is_about(request, number)).count();
            let value = score(&space, "street", &case, "correctness")["value"].clone();
            match expect {
                Expect::Failed(kind, asked) => {
                    let error = failures.get(&case).unwrap_or_else(|| panic!("{name}: did not fail, but is {value}"));
                    assert_eq!((error["kind"].as_str(), value), (Some(*kind), Value::Null), "{name}: {error}");
                    assert_eq!(requests, *asked, "{name}");
                }
                Expect::Grade(grade) => {
                    assert_eq!(value, f64::from(*grade) / 4.0, "{name}: {:?}", failures.get(&case));
                    assert_eq!(requests, 1, "{name}");
                }
            }
        }
        // Nothing of it is kept: who replies as asked for is asked for what failed alone.
        server.rescript(|_| Act::Say(fair_grade()));
        space.run("").expect(0);
        let failed = expected.iter().filter(|(_, expect)| matches!(expect, Expect::Failed(..))).count();
        assert_eq!((server.count(CHAT), ran.items("score").len()), (failed, count - failed));
        space.run("").expect(0).expect_nothing();
    }
}

#[test]
fn a_reply_that_does_not_fit_is_asked_for_again_with_another_seed() {
    let server = ModelServer::new(|request| match request.body["seed"].as_u64() {
        None => Act::Say("a 4, I think".to_string()),
        Some(_) => Act::Say("{\"reasoning\": \"r\", \"score\": 4}".to_string()),
    });
    let space = street(&server, 1, true, "[{judge: correctness, model: judge}]");
    space.run("").expect(0);
    assert_eq!(
        server.requests(CHAT).iter().map(|r| r.body["seed"].clone()).collect::<Vec<_>>(),
        [json!(null), json!(1)]
    );
    // The reply that was kept says which of the askings it answers.
    assert_eq!(score(&space, "street", "c001", "correctness")["metadata"]["reply"]["asking"], 1);
}

#[test]
fn answers_that_are_empty_are_told_apart_from_wrong_ones() {
    let server = fair_server();
    let space = street(
        &server,
        2,
        true,
        "[{judge: faithfulness, model: judge}, {judge: correctness, model: judge}, {judge: claim_recall, model: judge}]",
    );
    space.write(
        "system.sh",
        "while read -r request; do\n  echo '{\"results\": [{\"id\": \"p\", \"text\": \"A lamp.\"}], \"answer\": \" \"}'\ndone\n",
    );
    space.edit(
        "evaluation.yaml",
        "recipe: {}",
        "recipe: {system: {command: [sh, system.sh], version: \"1\", files: [system.sh]}}",
    );
    let ran = space.run("");
    assert!([0, 11].contains(&ran.code), "{}", ran.stderr);
    assert_eq!(server.total(), 0, "nobody needs to be asked");
    assert_eq!(score(&space, "street", "c001", "faithfulness"), Value::Null);
    for evaluator in ["correctness", "claim_recall"] {
        let found = score(&space, "street", "c001", evaluator);
        assert_eq!((&found["value"], &found["metadata"]["not_asked"]), (&json!(0.0), &json!("the answer is empty")));
    }
}

/// The means that a run printed.
fn means(ran: &Ran) -> Vec<Value> {
    let printed = ran.json();
    printed["evaluations"][0]["headlines"]
        .as_array()
        .expect("headlines")
        .iter()
        .map(|line| line["mean"].clone())
        .collect()
}

#[test]
fn an_outage_of_the_judge_is_no_number_and_what_was_asked_is_kept() {
    for act in [Act::Status(500, "", "down".to_string()), Act::Status(401, "", "no key".to_string()), Act::Hang] {
        let count = 12;
        let down = act.clone();
        let server = ModelServer::new(move |request| match request.number <= 4 {
            true => Act::Say(request.judgement().to_string()),
            false => down.clone(),
        });
        let space = street(&server, count, true, "[{judge: correctness, model: judge}]");
        let ran = space.run("--format json");
        assert!([11, 20].contains(&ran.code), "{act:?}: {} {}", ran.code, ran.stderr);
        if ran.code == 11 {
            assert_eq!(means(&ran), [Value::Null], "{act:?}");
        }
        again(&server);
        let ran = space.run("--format json").expect(0);
        assert_eq!((server.count(CHAT), means(&ran)), (count - 4, vec![json!(0.75)]), "{act:?}");
        assert!(!ran.executed().contains_key("retrieve") && !ran.executed().contains_key("answer"), "{act:?}");
    }
}

#[test]
fn a_judge_that_cannot_be_reached_ends_without_a_number() {
    let server = fair_server();
    let space = street(&server, 3, true, "[{judge: faithfulness, model: judge}]");
    // A port that nobody listens on: it was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    space.edit("evaluation.yaml", &server.base_url(), &format!("http://{free}/v1"));
    let ran = space.run("");
    assert!([11, 20].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    space.edit("evaluation.yaml", &format!("http://{free}/v1"), &server.base_url());
    space.run("").expect(0);
    assert!(server.count(CHAT) > 0);
}

#[test]
fn a_benchmark_that_has_a_judge_asks_the_model_that_judges() {
    let generous = |_: &Request| Act::Say("{\"reasoning\": \"so it is\", \"score\": 4}".to_string());
    let server = ModelServer::new(generous);
    let space = Space::new();
    let turn = json!({"speaker": "Ann", "text": "I bought a red kite.", "dia_id": "D1:1"});
    let question =
        json!({"question": "What did Ann buy?", "answer": "a red kite", "evidence": ["D1:1"], "category": 4});
    let conversation = json!({"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn]});
    let samples = json!([{"sample_id": "conv-1", "conversation": conversation, "qa": [question]}]);
    space.write("locomo10.json", &samples.to_string());
    let evaluation = |models: &[&str], rest: &str| {
        let url = server.base_url();
        let of = |name: &&str| format!("{{name: {name}, model: {name}-1, base_url: \"{url}\"}}");
        let models: Vec<String> = models.iter().map(of).collect();
        let head = "name: kites\nbenchmark: {adapter: locomo, path: locomo10.json}\nrecipe: {}\n";
        space.write("evaluation.yaml", &format!("{head}models: [{}]\n{rest}\n", models.join(", ")));
    };
    let own = ["evidence_recall@5", "evidence_recall@10", "token_f1"];
    let evaluators = || -> Vec<String> {
        let report = space.json("reports/kites/report.json");
        let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
        measures.iter().filter_map(|measure| measure["evaluator"].as_str()).map(str::to_string).collect()
    };
    // Without a model nothing is asked, and of two neither is the one that judges.
    for models in [[].as_slice(), &["small", "large"]] {
        evaluation(models, "");
        space.run("").expect(0);
        assert_eq!((evaluators(), server.total()), (own.map(String::from).to_vec(), 0), "{models:?}");
    }
    for (models, judge) in [(["small"].as_slice(), "small-1"), (&["small", "judge"], "judge-1")] {
        server.rescript(generous);
        evaluation(models, "gates: [{measure: openviking, at_least: 4}]");
        space.run("").expect(0);
        let requests = server.requests(CHAT);
        assert_eq!(requests.iter().map(|request| &request.body["model"]).collect::<Vec<_>>(), [judge]);
        assert_eq!(evaluators(), [own.as_slice(), &["openviking"]].concat(), "{models:?}");
        let report = space.json("reports/kites/report.json");
        let case = report["case_results"][0]["case_id"].as_str().expect("a case").to_string();
        assert_eq!(score(&space, "kites", &case, "openviking")["value"], 4.0);
    }
    // Who names evaluators has those, and no other.
    server.rescript(generous);
    evaluation(&["judge"], "evaluators: [token_f1]");
    space.run("").expect(0);
    assert_eq!((evaluators(), server.total()), (vec!["token_f1".to_string()], 0));
}
