//! What a system under test does wrong is tried again where that may help, reported where it does not, and never scored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::provider::{Act, Provider};
use super::quiz::{case, is_right, question, quiz};
use super::space::{Ran, Space};

const CASES: usize = 40;

/// The text of a field of an event.
fn field<'a>(event: &'a Value, name: &str) -> &'a str {
    event[name].as_str().unwrap_or_default()
}

/// The failures of a run's rows in `retrieve`: case id to (type, attempts).
fn failures(run: &Ran) -> BTreeMap<String, (String, u64)> {
    let of_retrieve = run.of("row_failed").into_iter().filter(|event| event["step"] == "retrieve");
    of_retrieve
        .map(|event| {
            let kind = field(&event["error"], "kind").to_string();
            (field(event, "item").to_string(), (kind, event["error"]["attempts"].as_u64().expect("attempts")))
        })
        .collect()
}

fn report(space: &Space) -> Value {
    serde_json::from_str(&space.read("reports/quiz/report.json")).expect("report.json")
}

/// The entry of case `number` in the report.
fn case_result(report: &Value, number: usize) -> &Value {
    let results = report["case_results"].as_array().expect("case results");
    results.iter().find(|result| result["case_id"] == case(number).as_str()).expect("every case is in the report")
}

/// The mean that the scripted answers have over the given cases.
fn mean(numbers: impl Iterator<Item = usize> + Clone) -> f64 {
    numbers.clone().filter(|number| is_right(*number)).count() as f64 / numbers.count() as f64
}

/// The only line of the table of results.
fn headline(run: &Ran) -> Value {
    let printed: Value = serde_json::from_str(&run.stdout).expect("--format json");
    printed["evaluations"][0]["headlines"][0].clone()
}

/// Whether a request asks one of these cases.
fn asks(query: &str, numbers: &[usize]) -> bool {
    numbers.iter().any(|number| question(*number) == query)
}

#[test]
fn faults_that_may_pass_are_tried_again() {
    let provider = Provider::new(|asked| match asked.query.as_str() {
        query if asks(query, &[1]) && asked.attempt == 1 => Act::Status(500, ""),
        query if asks(query, &[2]) && asked.attempt == 1 => Act::CutBody,
        query if asks(query, &[3]) && asked.attempt == 1 => Act::Hang,
        query if asks(query, &[4]) && asked.attempt == 1 => Act::Status(408, ""),
        query if asks(query, &[5]) && asked.attempt <= 2 => Act::Status(503, "Retry-After: 0"),
        query if asks(query, &[6]) && asked.attempt == 1 => Act::Status(429, "Retry-After: 1"),
        query if asks(query, &[7]) && asked.attempt == 1 => {
            Act::Status(429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT")
        }
        query if asks(query, &[8]) && asked.attempt == 1 => Act::Stall(Duration::from_secs(8)),
        _ => Act::Answer,
    });
    let space = quiz(CASES, &provider.system(), "concurrency: 8, timeout_s: 4");
    let run = space.run("quiz.yaml").expect(0);
    let times = |number: usize| match number {
        5 => 3,
        1..=8 => 2,
        _ => 1,
    };
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), times(number))).collect());
    let retried: BTreeMap<String, String> = run
        .of("row_retried")
        .into_iter()
        .map(|event| (field(event, "item").to_string(), field(&event["error"], "kind").to_string()))
        .collect();
    let kinds = ["server", "connection", "connection", "server", "server", "rate_limited", "rate_limited", "timeout"];
    assert_eq!(retried, kinds.into_iter().enumerate().map(|(i, kind)| (case(i + 1), kind.to_string())).collect());
    let waits = |number: usize| -> Vec<u64> {
        let of_case = |event: &&Value| field(event, "item") == case(number);
        run.of("row_retried").into_iter().filter(of_case).filter_map(|event| event["wait_ms"].as_u64()).collect()
    };
    assert_eq!(waits(6), [1000], "Retry-After is honoured");
    assert_eq!((waits(5), waits(7)), (vec![0, 0], vec![0]));
    assert!(waits(1)[0] >= 250, "else the wait is ours, with jitter");
    for event in run.of("row_done").into_iter().filter(|event| event["step"] == "retrieve") {
        let number = (1..=CASES).find(|number| field(event, "item") == case(*number)).expect("a case");
        assert_eq!(event["attempts"], times(number));
    }
    let report = report(&space);
    assert!(case_result(&report, 1)["latency_ms"].as_f64().is_some_and(|latency| latency > 0.0));
    assert_eq!(space.run("quiz.yaml").expect(0).executed(), BTreeMap::new());
}

#[test]
fn refusals_and_bad_replies_are_not_tried_again() {
    let bad = |body: &str| Act::Body(body.to_string());
    let replies = [
        ("refused", "400", Act::Status(400, "")),
        ("refused", "404", Act::Status(404, "")),
        ("refused", "out of lamps", bad(r#"{"error": "out of lamps"}"#)),
        ("bad_reply", "<html>", bad("<html>gateway</html>")),
        ("bad_reply", "expected one JSON object", bad(r#"{"results": []"#)),
        ("bad_reply", "expected an object", bad("[]")),
        ("bad_reply", "results: expected a list", bad("{}")),
        ("bad_reply", "results: expected a list", bad(r#"{"results": {"id": "p1"}}"#)),
        ("bad_reply", "results[0].score", bad(r#"{"results": [{"id": "p1", "text": "x", "score": "high"}]}"#)),
        ("bad_reply", "NaN", bad(r#"{"results": [{"id": "p1", "text": "x", "score": NaN}]}"#)),
        ("bad_reply", "results[0].text", bad(r#"{"results": [{"id": "p1", "text": 7}]}"#)),
        ("bad_reply", "\"sources\"", bad(r#"{"results": [], "sources": []}"#)),
        ("bad_reply", "answer: expected a text", bad(r#"{"results": [], "answer": 0}"#)),
    ];
    let acts: Vec<Act> = replies.iter().map(|(_, _, act)| act.clone()).collect();
    let provider = Provider::new(move |asked| {
        let number = (1..=acts.len()).find(|number| question(*number) == asked.query);
        number.map_or(Act::Answer, |number| acts[number - 1].clone())
    });
    let space = quiz(CASES, &provider.system(), "concurrency: 1, breaker: 0");
    let run = space.run("quiz.yaml").expect(11);
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
    let expected = replies.iter().enumerate().map(|(i, (kind, _, _))| (case(i + 1), (kind.to_string(), 1)));
    assert_eq!(failures(&run), expected.collect());
    let report = report(&space);
    for (i, (kind, words, _)) in replies.iter().enumerate() {
        let error = &case_result(&report, i + 1)["error"];
        assert_eq!((field(error, "error_type"), &error["metadata"]["attempts"]), (*kind, &json!(1)));
        assert!(field(error, "message").contains(words), "expected {words}: {error}");
    }
}

#[test]
fn a_few_failures_are_reported_left_out_of_the_mean_and_tried_by_the_next_run() {
    // Case 2 would be right: scored 0 it would lower the mean.
    let provider = Provider::new(|asked| if asks(&asked.query, &[2]) { Act::Status(500, "") } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 4, retries: 1");
    let run = space.run("quiz.yaml --format json").expect(10);
    assert_eq!(failures(&run), BTreeMap::from([(case(2), ("server".to_string(), 2))]));
    assert!(run.stderr.contains("failed items: 1;"), "{}", run.stderr);
    let line = headline(&run);
    assert_eq!((&line["scored"], &line["failed"], &line["skipped"]), (&json!(39), &json!(1), &json!(0)));
    assert_eq!(line["mean"], mean((1..=CASES).filter(|number| *number != 2)));
    let report = report(&space);
    let failed = case_result(&report, 2);
    assert_eq!(failed["scores"], json!([]), "a failure is no score, least of all 0");
    assert_eq!(failed["error"]["error_type"], "server");
    assert_eq!(failed["error"]["metadata"], json!({"step": "retrieve", "attempts": 2}));
    assert!(field(&failed["error"], "message").contains("500"), "{failed}");
    assert!(space.read("reports/quiz/report.md").contains("500"), "people read of it too");

    // Failures are never cached: as long as it fails it is asked, and nothing else is.
    provider.rescript(|_| Act::Status(500, ""));
    let again = space.run("quiz.yaml").expect(10);
    assert_eq!(provider.counts(), BTreeMap::from([(question(2), 2)]));
    assert_eq!(again.row_counts().get("retrieve"), None);
    provider.rescript(|_| Act::Answer);
    let healed = space.run("quiz.yaml --format json").expect(0);
    assert_eq!(provider.counts(), BTreeMap::from([(question(2), 1)]));
    assert_eq!(healed.row_counts(), BTreeMap::from([("retrieve".to_string(), 1), ("score".to_string(), 1)]));
    assert_eq!(headline(&healed)["mean"], mean(1..=CASES));
    assert_eq!(space.run("quiz.yaml").expect(0).executed(), BTreeMap::new());
}

#[test]
fn under_the_coverage_floor_there_is_no_headline() {
    let provider =
        Provider::new(|asked| if asks(&asked.query, &[1, 2, 3]) { Act::Status(404, "") } else { Act::Answer });
    let space = quiz(CASES, &provider.system(), "concurrency: 4");
    let run = space.run("quiz.yaml --format json").expect(11);
    let line = headline(&run);
    assert_eq!((&line["mean"], &line["interval"]), (&Value::Null, &Value::Null));
    assert_eq!((&line["scored"], &line["failed"], &line["coverage"]), (&json!(37), &json!(3), &json!(0.925)));
    assert!(run.stderr.contains("coverage"), "{}", run.stderr);
    // With a lower floor the same responses give one; nothing is asked but what failed.
    space.edit("quiz.yaml", "evaluators:", "statistics: {coverage_floor: 0.9}\nevaluators:");
    provider.rescript(|_| Act::Status(404, ""));
    let lower = space.run("quiz.yaml --format json").expect(10);
    assert_eq!(provider.requests(), 3);
    assert_eq!(headline(&lower)["mean"], mean(4..=CASES));
}

#[test]
fn an_auth_failure_stops_the_pool_at_once() {
    for status in [401, 403] {
        let provider = Provider::new(move |_| Act::Status(status, ""));
        let space = quiz(CASES, &provider.system(), "concurrency: 1");
        let run = space.run("quiz.yaml").expect(20);
        assert_eq!(provider.requests(), 1, "no further request");
        assert_eq!(run.of("pool_stopped").len(), 1);
        assert!(run.stderr.contains("could not be used") && run.stderr.contains(&status.to_string()), "{}", run.stderr);
        let failed = failures(&run);
        assert_eq!(failed.len(), CASES);
        assert_eq!(failed[&case(1)], ("auth".to_string(), 1));
        assert_eq!(failed[&case(2)], ("auth".to_string(), 0), "not tried");
        provider.rescript(|_| Act::Answer);
        space.run("quiz.yaml").expect(0);
        assert_eq!(provider.requests(), CASES);
    }
}

#[test]
fn refused_after_some_answers_is_still_a_provider_that_cannot_be_used() {
    let provider = Provider::new(|asked| if asked.request <= 10 { Act::Answer } else { Act::Status(401, "") });
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    space.run("quiz.yaml").expect(20);
    assert_eq!(provider.requests(), 11);
    provider.rescript(|_| Act::Answer);
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.requests(), CASES - 10, "the ten answers were kept");
}

#[test]
fn a_provider_that_never_answers_opens_the_breaker() {
    let provider = Provider::new(|_| Act::Status(500, ""));
    let space = quiz(CASES, &provider.system(), "concurrency: 1, retries: 0, breaker: 3");
    let run = space.run("quiz.yaml").expect(20);
    assert_eq!(provider.requests(), 3);
    assert_eq!(run.of("breaker_opened").len(), 1);
    let failed = failures(&run);
    let count = |kind: &str| failed.values().filter(|(found, _)| found == kind).count();
    assert_eq!((count("server"), count("breaker_open")), (3, CASES - 3));
    provider.rescript(|_| Act::Answer);
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.requests(), CASES, "all are asked next time");
}

#[test]
fn a_provider_that_goes_down_fails_the_rest_and_keeps_what_it_gave() {
    let provider = Provider::new(|asked| if asked.request <= 5 { Act::Answer } else { Act::Hang });
    let space = quiz(CASES, &provider.system(), "concurrency: 1, retries: 0, breaker: 4");
    let run = space.run("quiz.yaml").expect(11);
    assert_eq!(provider.requests(), 9);
    assert_eq!(failures(&run)[&case(10)].0, "breaker_open");
    let report = report(&space);
    let error = &case_result(&report, 10)["error"];
    assert_eq!((field(error, "error_type"), &error["metadata"]["attempts"]), ("breaker_open", &json!(0)));
    assert!(field(error, "message").contains("not tried"), "{error}");
    provider.rescript(|_| Act::Answer);
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.requests(), CASES - 5);
}

#[test]
fn a_provider_that_is_not_there_cannot_be_used() {
    // A port that was free a moment ago.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let space = quiz(3, &format!("http: \"http://{gone}/\""), "retries: 0, breaker: 2");
    let run = space.run("quiz.yaml").expect(20);
    assert!(failures(&run).values().any(|(kind, _)| kind == "connection"));
    let space = quiz(3, "command: [./no-such-program]", "retries: 0, breaker: 2");
    assert!(failures(&space.run("quiz.yaml").expect(20)).values().any(|(kind, _)| kind == "process"));
}

#[test]
fn a_late_reply_is_a_timeout() {
    let provider = Provider::new(|asked| match asked.query.as_str() {
        query if asks(query, &[3]) => Act::Stall(Duration::from_secs(30)),
        _ => Act::Answer,
    });
    let space = quiz(CASES, &provider.system(), "concurrency: 8, retries: 0, timeout_s: 3");
    let run = space.run("quiz.yaml").expect(10);
    assert_eq!(failures(&run), BTreeMap::from([(case(3), ("timeout".to_string(), 1))]));
}

#[test]
fn a_document_that_no_parser_reads_is_said_to_have_failed_by_every_run() {
    let space = Space::new();
    let document = |id: &str, content: &str| {
        format!("{{\"document_id\": \"{id}\", \"name\": \"{id}.txt\", \"media_type\": \"text/plain\", {content}}}\n")
    };
    space.write(
        "documents.jsonl",
        &[
            document("pier", "\"text\": \"The pier has 7 lamps.\""),
            // "%PDF-1.7" and bytes that are no text.
            document("scan", "\"data_base64\": \"JVBERi0xLjcK\""),
            document("noise", "\"data_base64\": \"AAECAwQFBgcICQ==\""),
        ]
        .concat(),
    );
    space.write(
        "cases.jsonl",
        "{\"case_id\": \"c1\", \"query\": \"How many lamps has the pier?\", \"expected\": {\"answers\": [\"7\"]}}\n",
    );
    space.write(
        "evaluation.yaml",
        "name: piers\nbenchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}\n\
         recipe: {name: plain}\nevaluators: [answer_contains]\n",
    );
    let cold = space.run("").expect(10);
    let failed: Vec<&str> = cold.of("row_failed").into_iter().map(|event| field(event, "item")).collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
    let told = "documents that no parser reads: 2;";
    assert!(cold.stderr.contains(told) && cold.stderr.contains("PDF"), "{}", cold.stderr);
    let warm = space.run("").expect(10);
    assert_eq!(warm.executed(), BTreeMap::new());
    assert_eq!(warm.rows(), Vec::<String>::new());
    assert!(warm.stderr.contains(told), "{}", warm.stderr);
    space.write("documents.jsonl", &document("pier", "\"text\": \"The pier has 7 lamps.\""));
    space.run("").expect(0);
}

#[test]
fn a_secret_reaches_no_file_of_the_store_and_no_output() {
    const SECRET: &str = "s3cr3t-l4mp";
    // A system that repeats the secret in its complaints.
    let provider = Provider::new(|asked| match asked.request {
        1 => Act::Body(format!("{{\"error\": \"the key {SECRET} is known\"}}")),
        _ => Act::Answer,
    });
    let system = format!("{}, headers: {{Authorization: \"Bearer ${{LAMP_KEY}}\"}}", provider.system());
    let space = quiz(3, &system, "concurrency: 1");
    let output = space.command().args(["run", "quiz.yaml"]).env("LAMP_KEY", SECRET).output().expect("runs");
    assert_eq!(output.status.code(), Some(11));
    for printed in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(printed).contains(SECRET));
    }
    let written = [".ragstage", "reports"].map(|folder| super::values::files(&space.path(folder))).concat();
    assert!(written.len() > 10);
    for file in written {
        let bytes = std::fs::read(&file).expect("a file");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "{} holds the secret", file.display());
    }
}

#[test]
fn replies_of_a_system_whose_files_change_meanwhile_are_not_kept() {
    let space = quiz(CASES, "command: [sh, system.sh], files: [data.txt]", "concurrency: 1");
    let reply = super::quiz::reply(&question(1)).replace('\'', "");
    space.write("data.txt", "one\n");
    space.write(
        "system.sh",
        &format!(
            "n=0\nwhile read -r request; do\n  n=$((n+1))\n  echo \"$request\" >> asked.log\n  \
             if [ $n = 3 ] && [ ! -e done ]; then touch done; echo two > data.txt; echo one > data.txt; fi\n  \
             echo '{reply}'\ndone\n"
        ),
    );
    let ran = space.run("quiz.yaml").expect(3);
    assert!(ran.stderr.contains("data.txt") && ran.stderr.contains("was written to"), "{}", ran.stderr);
    assert_eq!(ran.row_counts().get("retrieve"), Some(&2), "what came before is kept");
    // The file is as it was, so only what was not kept is asked again.
    let again = space.run("quiz.yaml").expect(0);
    assert_eq!(again.row_counts().get("retrieve"), Some(&(CASES - 2)));
    assert_eq!(space.read("asked.log").lines().count(), CASES + 1);
}

#[test]
fn replies_in_doubt_are_set_aside() {
    let space = quiz(CASES, "command: [sh, system.sh]", "concurrency: 1");
    let reply = super::quiz::reply(&question(1));
    let script = |stray: &str| {
        format!(
            "n=0\nwhile read -r request; do\n  n=$((n+1))\n  echo '{reply}'\n  {stray}\n  \
             echo \"$request\" >> asked.log\ndone\n"
        )
    };
    // In step for a while, then a line too many: what was kept before it cannot be told from what is shifted.
    space.write("system.sh", &script(&format!("if [ $n = 5 ]; then echo '{reply}'; fi")));
    let ran = space.run("quiz.yaml").expect(20);
    assert!(ran.stderr.contains("may belong to other queries"), "{}", ran.stderr);
    assert!(!space.path("reports").exists(), "no number is made of such replies");
    // Nothing of the key changed, and still nothing is taken from the cache.
    space.write("system.sh", &script(":"));
    let again = space.run("quiz.yaml").expect(0);
    assert_eq!(again.row_counts().get("retrieve"), Some(&CASES));
}
