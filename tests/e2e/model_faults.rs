//! What a model server does wrong is tried again where that may help and reported where it does not; what was paid for before is
//! never asked for again, and the key to the server is in nothing that is written.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request, chat};
use super::space::{Ran, Space};

const COUNT: usize = 40;
const CHAT: &str = "chat/completions";
const KEY: &str = "sk-lamps-3fb2c61d9e";

/// The text of document `number`, one chunk.
fn document(number: usize) -> String {
    format!("Lamp {number:03} stands in room {}.", number * 7)
}

fn question(number: usize) -> String {
    format!("Where is lamp {number:03}?")
}

fn case(number: usize) -> String {
    format!("case-{number:03}")
}

/// A folder with `lamps.yaml`: documents and questions embedded by `server`, results put into order by it, answers by it.
fn lamps(server: &ModelServer, limits: &str) -> Space {
    let space = Space::new();
    let documents: String = (1..=COUNT)
        .map(|number| {
            let text = document(number);
            let name = format!("lamp-{number:03}.txt");
            let id = format!("lamp-{number:03}");
            json!({"document_id": id, "name": name, "media_type": "text/plain", "text": text}).to_string() + "\n"
        })
        .collect();
    let cases: String = (1..=COUNT)
        .map(|number| {
            let expected = json!({"answers": [format!("lamp {number:03}")],
                                  "evidence": [{"reference_id": format!("lamp-{number:03}")}]});
            json!({"case_id": case(number), "query": question(number), "expected": expected}).to_string() + "\n"
        })
        .collect();
    space.write("documents.jsonl", &documents);
    space.write("cases.jsonl", &cases);
    let base_url = server.base_url();
    space.write(
        "lamps.yaml",
        &format!(
            "name: lamps\n\
             benchmark: {{adapter: jsonl, name: lamps, documents: documents.jsonl, cases: cases.jsonl}}\n\
             models: [{{name: small, model: m-1, base_url: \"{base_url}\", api_key_env: LAMP_KEY}}]\n\
             rerankers: [{{name: cross, model: r-1, base_url: \"{base_url}\", api_key_env: LAMP_KEY}}]\n\
             recipe:\n  \
               name: near\n  \
               embed: {{provider: openai, model: e-1, base_url: \"{base_url}\", api_key_env: LAMP_KEY, batch: 8}}\n\
             queries:\n  \
               - {{mode: rerank_search, name: near, top_k: 3, options: {{reranker: cross, base_mode: vector_search}}}}\n\
             answer: {{provider: openai, llm: small, max_tokens: 48}}\n\
             evaluators: [answer_contains]\n\
             limits: {{jobs: 2, {limits}}}\n"
        ),
    );
    space
}

fn run(space: &Space, arguments: &str) -> Ran {
    let events = space.path(".events");
    let mut command = space.command();
    command.env("LAMP_KEY", KEY).args(["run", "lamps.yaml", "--events"]).arg(&events);
    let mut ran = Ran::from(command.args(arguments.split_whitespace()).output().expect("the command starts"));
    let lines = std::fs::read_to_string(&events).unwrap_or_default();
    ran.events = lines.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let _ = std::fs::remove_file(events);
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY) && !lines.contains(KEY), "a key was printed");
    ran
}

/// The answer to the question that a request ends with.
fn say(request: &Request) -> Act {
    let number = request.prompt().rsplit("lamp ").next().and_then(|rest| rest.get(..3)).unwrap_or("none");
    Act::Say(format!("it is lamp {number}"))
}

/// What a server does with a request.
type Script = Box<dyn Fn(&Request) -> Act + Send>;

/// What a healthy server does.
fn healthy(request: &Request) -> Act {
    if request.path == CHAT { say(request) } else { Act::Answer }
}

/// Whether a request is about the lamp `number`.
fn is_about(request: &Request, number: usize) -> bool {
    match request.path.as_str() {
        CHAT => request.prompt().contains(&question(number)),
        "rerank" => request.body["query"] == question(number).as_str(),
        _ => {
            request.texts().contains(&question(number).as_str()) || request.texts().contains(&document(number).as_str())
        }
    }
}

/// Of each item that failed, the class of the fault.
fn failures(ran: &Ran, step: &str) -> BTreeMap<String, String> {
    let failed = ran.of("row_failed").into_iter().filter(|event| event["step"] == step);
    failed.map(|event| (text(&event["item"]), text(&event["error"]["kind"]))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// The texts that were asked for, sorted.
fn embedded(server: &ModelServer) -> Vec<String> {
    let requests = server.requests("embeddings");
    let mut texts: Vec<String> = requests.iter().flat_map(Request::texts).map(str::to_string).collect();
    texts.sort();
    texts
}

/// Nothing below the folder holds the key.
fn expect_no_key(space: &Space) {
    for (name, bytes) in space.files(".") {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "{name} holds the key");
    }
}

#[test]
fn faults_that_may_pass_are_tried_again() {
    let server = ModelServer::new(|request| {
        let act = match request.number {
            1 => Some(Act::Status(500, "", "loading".into())),
            3 => Some(Act::Status(429, "Retry-After: 1", "slowly".into())),
            5 => Some(Act::Hang),
            7 => Some(Act::CutBody),
            9 => Some(Act::CutHead),
            11 => Some(Act::Status(408, "", "late".into())),
            _ => None,
        };
        act.unwrap_or_else(|| healthy(request))
    });
    let one = "{concurrency: 1}";
    let space = lamps(&server, &format!("embeddings: {one}, rerank: {one}, llm: {one}"));
    let ran = run(&space, "").expect(0);
    let retried = |step: &str| -> Vec<String> {
        let of_step = ran.of("row_retried").into_iter().filter(|event| event["step"] == step);
        of_step.map(|event| text(&event["error"]["kind"])).collect()
    };
    let kinds = ["server", "rate_limited", "connection", "connection", "connection", "server"];
    // 5 requests for 40 documents, then 5 for 40 questions.
    assert_eq!(retried("embed"), kinds[..5]);
    assert_eq!(retried("retrieve"), [&kinds[5..], &kinds].concat());
    assert_eq!(retried("answer"), kinds);
    let waits = ran.of("row_retried").into_iter().filter(|event| event["error"]["kind"] == "rate_limited");
    assert_eq!(waits.filter_map(|event| event["wait_ms"].as_u64()).collect::<Vec<_>>(), [1000; 3]);
    assert_eq!(server.count("embeddings"), 10 + 6);
    assert_eq!((server.count("rerank"), server.count(CHAT)), (COUNT + 6, COUNT + 6));
    server.rescript(|_| Act::Status(500, "", String::new()));
    run(&space, "").expect(0).expect_nothing();
    assert_eq!(server.total(), 0);
    expect_no_key(&space);
}

#[test]
fn a_server_that_drips_or_stalls_is_late() {
    for act in [Act::Stall(Duration::from_secs(5)), Act::Drip(Duration::from_millis(100))] {
        let server = ModelServer::new(move |request| match request.path == CHAT && is_about(request, 3) {
            true => act.clone(),
            false => healthy(request),
        });
        let space = lamps(&server, "llm: {timeout_s: 1, retries: 1}");
        let ran = run(&space, "").expect(10);
        assert_eq!(failures(&ran, "answer"), BTreeMap::from([(case(3), "timeout".to_string())]));
    }
}

#[test]
fn a_bad_vector_is_a_failed_item_and_the_others_are_kept() {
    let marked = |request: &Request, vector: Value| {
        let mut answer = request.answer();
        let index = request.texts().iter().position(|text| *text == document(3)).expect("the text");
        answer["data"][index]["embedding"] = vector;
        answer.to_string()
    };
    let faults: [(&str, Script); 4] = [
        (
            "null or NaN",
            Box::new(move |request| Act::Body(marked(request, json!(["here"])).replace("\"here\"", "NaN"))),
        ),
        ("finite", Box::new(move |request| Act::Body(marked(request, json!([1, "2"]))))),
        (
            "as this embedder's others have",
            Box::new(move |request| match request.texts().len() {
                // Alone it comes when the length is known.
                1 => Act::Body(marked(request, json!([1, 2]))),
                _ => Act::Status(400, "", "one at a time".into()),
            }),
        ),
        (
            "found none for number",
            Box::new(move |request| {
                let mut answer = request.answer();
                let index = request.texts().iter().position(|text| *text == document(3)).expect("the text");
                answer["data"].as_array_mut().expect("data").remove(index);
                Act::Json(answer)
            }),
        ),
    ];
    for (words, fault) in faults {
        let server = ModelServer::new(move |request| match request.path == "embeddings" && is_about(request, 3) {
            true if request.texts().contains(&document(3).as_str()) => fault(request),
            _ => healthy(request),
        });
        let space = lamps(&server, "embeddings: {concurrency: 1}");
        let ran = run(&space, "");
        assert!([10, 11].contains(&ran.code), "{words}: {} {}", ran.code, ran.stderr);
        let failed = ran.of("row_failed").into_iter().filter(|event| event["step"] == "embed").collect::<Vec<_>>();
        assert_eq!(failed.len(), 1, "{words}: {failed:?}");
        assert_eq!(failed[0]["error"]["kind"], "bad_reply");
        assert!(text(&failed[0]["error"]["message"]).contains(words), "{words}: {}", failed[0]);
        // The next run asks for what failed, and for nothing that was paid for.
        server.rescript(healthy);
        run(&space, "").expect(0);
        assert_eq!(embedded(&server), [document(3)], "{words}");
    }
}

#[test]
fn a_text_that_is_refused_costs_the_others_of_its_batch_nothing() {
    for status in [400, 500] {
        let server = ModelServer::new(move |request| match request.texts().contains(&document(3).as_str()) {
            true => Act::Status(status, "", "input (802 tokens) is too large to process".into()),
            false => healthy(request),
        });
        let space = lamps(&server, "embeddings: {concurrency: 1, retries: 1}");
        let ran = run(&space, "");
        assert!([10, 11].contains(&ran.code), "{status}: {} {}", ran.code, ran.stderr);
        let kind = if status == 400 { "refused" } else { "server" };
        assert_eq!(failures(&ran, "embed").into_values().collect::<Vec<_>>(), [kind]);
        let words = "input (802 tokens) is too large to process";
        assert!(ran.of("row_failed").iter().any(|event| text(&event["error"]["message"]).contains(words)));
        server.rescript(healthy);
        run(&space, "").expect(0);
        assert_eq!(embedded(&server), [document(3)], "{status}");
    }
}

#[test]
fn replies_of_a_chat_model_that_are_none() {
    let reply = |edit: fn(&mut Value)| {
        move |request: &Request| {
            let mut answer = chat("it is", request);
            edit(&mut answer);
            Act::Json(answer)
        }
    };
    type Fault = Box<dyn Fn(&Request) -> Act + Send>;
    let faults: Vec<(&str, &str, Fault)> = vec![
        ("bad_reply", "`choices` with one choice", Box::new(reply(|answer| answer["choices"] = json!([])))),
        (
            "bad_reply",
            "expected a text",
            Box::new(reply(|answer| answer["choices"][0]["message"]["content"] = Value::Null)),
        ),
        (
            "refused",
            "I must not",
            Box::new(reply(|answer| answer["choices"][0]["message"]["refusal"] = json!("I must not"))),
        ),
        ("bad_reply", "expected one JSON object", Box::new(|_| Act::Body("{\"choices\": [".into()))),
        ("refused", "5031 tokens", Box::new(|_| Act::Status(400, "", "{\"error\": \"5031 tokens of 4096\"}".into()))),
        ("refused", "no such model", Box::new(|_| Act::Json(json!({"error": {"message": "no such model"}})))),
    ];
    let expected: Vec<(&str, &str)> = faults.iter().map(|(kind, words, _)| (*kind, *words)).collect();
    let server = ModelServer::new(move |request| {
        let fault = faults.iter().enumerate().find(|(i, _)| request.path == CHAT && is_about(request, i + 1));
        fault.map_or_else(|| healthy(request), |(_, (_, _, act))| act(request))
    });
    let space = lamps(&server, "llm: {concurrency: 1}");
    let ran = run(&space, "").expect(11);
    let failed = ran.of("row_failed");
    for (i, (kind, words)) in expected.iter().enumerate() {
        let error = &failed.iter().find(|event| event["item"] == case(i + 1).as_str()).expect("a failure")["error"];
        assert_eq!((error["kind"].as_str(), &error["attempts"]), (Some(*kind), &json!(1)), "{error}");
        assert!(text(&error["message"]).contains(words), "{error}");
    }
    assert_eq!(server.count(CHAT), COUNT, "a refusal is asked once");
    server.rescript(healthy);
    run(&space, "").expect(0);
    assert_eq!((server.count(CHAT), server.total()), (expected.len(), expected.len()));
}

#[test]
fn a_ranking_that_lacks_a_score_fails_its_case() {
    let server = ModelServer::new(|request| match request.path == "rerank" && is_about(request, 3) {
        true => Act::Json(json!({"results": [{"index": 0, "relevance_score": 1}]})),
        false => healthy(request),
    });
    let space = lamps(&server, "rerank: {concurrency: 1}");
    let ran = run(&space, "").expect(10);
    assert!(failures(&ran, "retrieve").values().any(|kind| kind == "bad_reply"), "{:?}", failures(&ran, "retrieve"));
    server.rescript(healthy);
    run(&space, "").expect(0);
    assert_eq!((server.count("rerank"), server.count("embeddings"), server.count(CHAT)), (1, 0, 1));
}

#[test]
fn an_auth_failure_stops_its_pool_and_no_key_is_written() {
    for path in ["embeddings", "rerank", CHAT] {
        let echo = format!("the key {KEY} of Bearer {KEY} is spent");
        let server = ModelServer::new(move |request| match request.path == path {
            true => Act::Status(401, "", echo.clone()),
            false => healthy(request),
        });
        let one = "{concurrency: 1}";
        let space = lamps(&server, &format!("embeddings: {one}, rerank: {one}, llm: {one}"));
        let ran = run(&space, "").expect(20);
        assert_eq!(server.count(path), 1, "no further request");
        assert_eq!(server.requests(path)[0].authorization.as_deref(), Some(format!("Bearer {KEY}").as_str()));
        assert!(ran.stderr.contains("401") && ran.stderr.contains("***"), "{}", ran.stderr);
        expect_no_key(&space);
        // What was paid for before is not asked for again.
        let before: Vec<&str> = ["embeddings", "rerank", CHAT].into_iter().take_while(|step| *step != path).collect();
        server.rescript(healthy);
        run(&space, "").expect(0);
        assert!(before.iter().all(|step| server.count(step) == 0), "{path}: {before:?}");
        expect_no_key(&space);
    }
}

#[test]
fn a_reply_that_repeats_the_key_is_not_kept() {
    let server = ModelServer::new(|request| match request.path == CHAT && is_about(request, 3) {
        true => Act::Say(format!("I was sent {KEY}")),
        false => healthy(request),
    });
    let space = lamps(&server, "llm: {concurrency: 1}");
    let ran = run(&space, "").expect(10);
    let failed = ran.of("row_failed");
    assert!(failed.iter().any(|event| text(&event["error"]["message"]).contains("variable LAMP_KEY")), "{failed:?}");
    expect_no_key(&space);
}
