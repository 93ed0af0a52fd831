//! An OpenViking server as a system under test: documents handed over once in either way, found, and removed without anything
//! else; and what it does wrong.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::openviking_server::{Act, OpenViking};
use super::running::Running;
use super::small::{self, CASE_COUNT, DOCUMENT_COUNT, UNITS};
use super::space::{Ran, Space};

/// The recorded replies of a real server.
const RECORDED: &str = include_str!("../../fixtures/openviking/recorded.json");
/// Of a key.
const SECRET: &str = "ov-kTz9-very-secret-9f31";

/// Asks a server instead of building; `more` are further keys of the system.
fn ask_server(space: &Space, server: &OpenViking, more: &str) {
    let system = format!("provider: openviking, url: '{}', version: \"0.5.2\"{more}", server.url());
    space.edit("evaluation.yaml", "    chunk: {size: 12}\n", &format!("    system: {{{system}}}\n"));
    space.edit("evaluation.yaml", "mode: full_text_search, name: bm25", "mode: find, name: found");
    space.edit("evaluation.yaml", "statistics: {resamples: 100}", "statistics: {resamples: 100, coverage_floor: 0}");
}

/// The harbour in four units of two documents.
fn units(server: &OpenViking, more: &str) -> Space {
    let space = Space::new();
    small::write_units(&space);
    ask_server(&space, server, more);
    space
}

/// The harbour in one unit.
fn town(server: &OpenViking, more: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    ask_server(&space, server, more);
    space
}

fn add(space: &Space, lines: &str) {
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + lines));
}

fn case_results(space: &Space) -> Vec<Value> {
    space.json("reports/small/report.json")["case_results"].as_array().expect("case results").clone()
}

/// The results of a case in the report.
fn results(space: &Space, case: &str) -> Vec<Value> {
    let all = case_results(space);
    let of_case = all.iter().find(|result| result["case_id"] == case).expect("the case");
    of_case["response"]["results"].as_array().expect("results").clone()
}

/// The classes of the failures of cases, by case.
fn failures(space: &Space) -> BTreeMap<String, String> {
    let all = case_results(space);
    let failed = all.iter().filter(|result| !result["error"].is_null());
    failed
        .map(|result| {
            let text = |value: &Value| value.as_str().expect("a text").to_string();
            (text(&result["case_id"]), text(&result["error"]["error_type"]))
        })
        .collect()
}

fn counts(pairs: &[(&'static str, usize)]) -> BTreeMap<&'static str, usize> {
    pairs.iter().copied().collect()
}

#[test]
fn a_folder_is_handed_over_once_and_looked_at_before_it_is_used_again() {
    let server = OpenViking::new();
    let space = units(&server, "");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.executed()["retrieve"]), (4, 4));
    // Of each unit: a look at the version and the place, the hand-over, and a look at what became of it; then its questions, of
    // whose two results each is read.
    let units = UNITS.len();
    let found = units + CASE_COUNT;
    assert_eq!(
        server.counts(),
        counts(&[
            ("health", units),
            ("ls", 2 * units),
            ("upload", units),
            ("add", units),
            ("task", units),
            ("find", found),
            ("read", units + 2 * CASE_COUNT),
        ])
    );
    let first = &results(&space, "built")[0];
    let id = first["id"].as_str().expect("an id");
    assert!(id.starts_with("viking://resources/ragstage-") && id.ends_with("/lighthouse/lighthouse.md"), "{id}");
    assert_eq!(first["source"]["document_id"], "lighthouse");
    assert_eq!((&first["metadata"]["level"], &first["metadata"]["abstract"]), (&json!(2), &json!("")));
    assert!(first["text"].as_str().is_some_and(|text| text.ends_with("The town sees it.")), "{first}");
    // A unit's place has the documents of that unit.
    assert_eq!(results(&space, "permit").len(), 2);

    space.run("").expect(0).expect_nothing();
    assert_eq!(server.counts(), counts(&[]));

    // One case more: a look, with a question in the words of a document, and the case.
    let tar =
        small::case("tar", "Where does tar come from?", "the north", ("shipyard", "Tar comes from the north"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &tar));
    space.edit("units.jsonl", "[\"parrot\",\"planks\"]", "[\"parrot\",\"planks\",\"tar\"]");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), ["tar"]);
    assert_eq!(server.counts(), counts(&[("health", 1), ("ls", 1), ("find", 2), ("read", 3)]));

    // How it is asked is no matter of what it was handed.
    space.edit("evaluation.yaml", "version: \"0.5.2\"", "version: \"0.5.2\", retrieval_instruction: 'Find:'");
    let ran = space.run("").expect(0);
    assert!(!ran.executed().contains_key("ingest"), "{:?}", ran.executed());
    assert_eq!(ran.items("retrieve").len(), CASE_COUNT + 1);
    assert!(server.asked("find").iter().any(|query| query == "Find: Where does tar come from?"));
}

#[test]
fn a_place_that_lost_something_is_made_again() {
    let server = OpenViking::new();
    let space = units(&server, "");
    space.run("").expect(0);
    server.lose("/lighthouse/");
    server.counts();
    space.edit("cases.jsonl", "When was the lighthouse built?", "In which year was the lighthouse built?");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.items("retrieve")), (1, vec!["built".to_string()]));
    let stale = ran.of("action_stale");
    let why = stale.iter().find(|event| event["step"] == "ingest").expect("a reason")["reasons"].to_string();
    assert!(why.contains("probe_failed") && why.contains("it counts 2, expected 4"), "{why}");
    let asked = server.counts();
    assert_eq!((asked["add"], asked["rm"]), (1, 1), "what is left of it is removed first");
    assert_eq!(results(&space, "built")[0]["source"]["document_id"], "lighthouse");
    // Its texts are there, but nothing is found: a count alone would not tell.
    let questions = server.counts();
    assert_eq!(questions, counts(&[]));
    server.script(|asked| match asked.call {
        "find" if asked.number == 1 => Act::Body(200, r#"{"status": "ok", "result": {"resources": []}}"#),
        _ => Act::Answer,
    });
    space.edit("cases.jsonl", "In which year was the lighthouse built?", "What year was the lighthouse built in?");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.items("retrieve")), (1, vec!["built".to_string()]));
    assert_eq!(server.counts()["add"], 1);
}

#[test]
fn documents_one_by_one_are_under_way_as_many_at_once_as_there_are_workers() {
    for workers in [3, DOCUMENT_COUNT] {
        let server = OpenViking::new();
        server.gather_adds(workers);
        let space = town(&server, &format!(", ingest_mode: per_file, ingest_workers: {workers}"));
        let ran = space.run("--until build").expect(0);
        assert_eq!(server.most_adding(), workers);
        let begun = server.begun();
        assert_eq!(begun.len(), DOCUMENT_COUNT);
        assert!(begun.values().all(|count| *count == 1), "{begun:?}");
        assert_eq!(ran.items("ingest").len(), DOCUMENT_COUNT + 1, "the documents, and the look at all of them");
        assert_eq!(server.files().len(), DOCUMENT_COUNT);
    }
}

#[test]
fn both_ways_of_handing_over_and_of_waiting_give_the_same() {
    let mut seen = Vec::new();
    for more in [
        "",
        ", wait: true",
        ", ingest_mode: per_file",
        ", ingest_mode: per_file, wait: true",
        ", target: 'viking://resources/bench/', processing_mode: vectors_only",
    ] {
        let server = OpenViking::new();
        server.tasks_take(2);
        let space = town(&server, more);
        space.run("").expect(0);
        let found: Vec<(Value, Value)> = ["built", "permit"]
            .iter()
            .flat_map(|case| results(&space, case))
            .map(|result| (result["source"]["document_id"].clone(), result["text"].clone()))
            .collect();
        assert_eq!(found.len(), 6);
        let usage = space.ragstage("kb list --format json evaluation.yaml").expect(0).json();
        let usage = &usage["knowledge_bases"][0]["usage"];
        assert_eq!(usage[0]["model"], "openviking embedding", "{more}");
        assert_eq!(usage[0]["usage"]["source"], "server");
        seen.push((found, usage[0]["usage"]["prompt_tokens"].as_u64().expect("tokens")));
    }
    assert!(seen.iter().all(|one| *one == seen[0]) && seen[0].1 > 100, "{seen:?}");
}

#[test]
fn what_is_not_said_of_tokens_is_unknown() {
    let server = OpenViking::new();
    server.script(|asked| if asked.what.contains("museum") { Act::NoTelemetry } else { Act::Answer });
    let space = town(&server, ", ingest_mode: per_file");
    space.run("").expect(0);
    let listed = space.ragstage("kb list --format json evaluation.yaml").expect(0).json();
    let kb = &listed["knowledge_bases"][0];
    assert_eq!((&kb["usage_unknown"], &kb["usage"][0]["calls"]), (&json!(1), &json!(DOCUMENT_COUNT - 1)));
}

#[test]
fn summaries_of_folders_are_their_abstracts_and_overviews() {
    let server = OpenViking::new();
    server.summarize();
    let space = units(&server, "");
    space.run("").expect(0);
    let found = results(&space, "built");
    let summary = found.iter().find(|result| result["metadata"]["level"] == 1).expect("a summary");
    let folder = summary["id"].as_str().and_then(|id| id.strip_suffix("/.overview.md")).expect("a folder");
    assert_eq!(summary["text"], format!("abstract of {folder}\n# overview of {folder}"));
    assert!(summary["source"]["document_id"].is_string(), "{summary}");
    assert!(server.counts()["overview"] > 0);
    space.edit("evaluation.yaml", "version: \"0.5.2\"", "version: \"0.5.2\", overview: false");
    space.run("").expect(0);
    let found = results(&space, "built");
    let summary = found.iter().find(|result| result["metadata"]["level"] == 1).expect("a summary");
    assert_eq!(summary["text"], format!("abstract of {folder}\n"));
    assert!(!server.counts().contains_key("overview"));
}

#[test]
fn what_passes_is_tried_again() {
    let once = |call: &'static str, act: Act| {
        let server = OpenViking::new();
        server.script(move |asked| if asked.call == call && asked.number == 1 { act.clone() } else { Act::Answer });
        let space = town(&server, ", read_timeout_s: 5");
        let ran = space.run("").expect(0);
        assert!(failures(&space).is_empty());
        (ran, server.counts())
    };
    // A busy place is waited for by the call itself.
    let busy = || json!({"conflict_type": "path_busy", "retryable": true});
    let (ran, asked) = once("add", Act::Error(409, "", "CONFLICT", busy()));
    assert_eq!((asked["add"], asked["upload"], ran.of("row_retried").len()), (2, 1, 0));
    // So is a task that cannot be looked at once.
    let (ran, asked) = once("task", Act::Error(503, "Retry-After: 0", "UNAVAILABLE", json!({})));
    assert_eq!((asked["add"], asked["task"], ran.of("row_retried").len()), (1, 2, 0));
    for (call, act, kind) in [
        ("upload", Act::Error(429, "Retry-After: 0", "RESOURCE_EXHAUSTED", json!({})), "rate_limited"),
        ("add", Act::Error(503, "Retry-After: 0", "UNAVAILABLE", json!({})), "server"),
        ("find", Act::Error(500, "", "INTERNAL", json!({})), "server"),
        ("find", Act::Error(200, "", "INTERNAL", json!({})), "server"),
        ("read", Act::CutBody, "connection"),
        ("find", Act::Slow(Duration::from_secs(7)), "timeout"),
    ] {
        let (ran, _) = once(call, act);
        let retried = ran.of("row_retried");
        assert_eq!(retried.len(), 1, "{call} {kind}: {retried:?}");
        assert_eq!(retried[0]["error"]["kind"], kind, "{call}: {}", retried[0]);
        if call == "add" || call == "upload" {
            assert_eq!(retried[0]["wait_ms"], 0, "as the server asked");
        }
    }
}

#[test]
fn a_question_that_goes_wrong_fails_alone() {
    for (act, kind, said) in [
        (Act::Body(200, "<html>"), "bad_reply", "expected one JSON object, found <html>"),
        (Act::Body(200, "{\"status\": \"ok\", \"result\": null}"), "bad_reply", "result.resources: expected a list"),
        (Act::Nulls, "bad_reply", "result.resources[0].uri: expected a text that is not empty, found null"),
        (Act::Error(200, "", "INVALID_ARGUMENT", json!({})), "refused", "INVALID_ARGUMENT: as the script says"),
        (Act::Error(404, "", "NOT_FOUND", json!({})), "refused", "404: NOT_FOUND"),
    ] {
        let server = OpenViking::new();
        server.script(move |asked| match asked.what.as_str() {
            "When was the lighthouse built?" => act.clone(),
            _ => Act::Answer,
        });
        let space = town(&server, "");
        let ran = space.run("").expect(10);
        assert_eq!(failures(&space), [("built".to_string(), kind.to_string())].into(), "{said}");
        let failed = ran.of("row_failed");
        assert!(failed[0]["error"]["message"].as_str().is_some_and(|message| message.contains(said)), "{failed:?}");
        server.script(|_| Act::Answer);
        let ran = space.run("").expect(0);
        assert_eq!(ran.items("retrieve"), ["built"]);
        assert_eq!(server.counts()["find"], 2, "the look and the case");
    }
}

#[test]
fn every_third_question_fails_and_the_next_run_asks_those() {
    let server = OpenViking::new();
    let space = town(&server, "");
    add(&space, "limits: {queries: {retries: 0, concurrency: 1}}\n");
    space.run("--until build").expect(0);
    server.script(|asked| match asked.call {
        // The first is the look's.
        "find" if asked.number > 1 && asked.number % 3 == 0 => Act::Error(500, "", "INTERNAL", json!({})),
        _ => Act::Answer,
    });
    let ran = space.run("").expect(10);
    let failed = failures(&space);
    assert_eq!(failed.len(), 3);
    assert!(ran.stdout.contains("70.0 %"), "coverage is printed: {}", ran.stdout);
    server.script(|_| Act::Answer);
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), failed.into_keys().collect::<Vec<_>>());
    assert_eq!(server.counts()["find"], 1 + 3);
    assert!(failures(&space).is_empty());
}

/// One document of four units, handed over one by one, meets `act`. Gives what the run said of it.
fn one_document_meets(act: Act, more: &str) -> String {
    let server = OpenViking::new();
    server.script(move |asked| match asked.call {
        "add" if asked.what.ends_with("/museum") => act.clone(),
        _ => Act::Answer,
    });
    let space = units(&server, &format!(", ingest_mode: per_file{more}"));
    let ran = space.run("").expect(FAILED);
    let failed = failures(&space);
    let (_, _, cases) = UNITS[1];
    assert_eq!(failed.keys().collect::<Vec<_>>(), cases, "nobody is asked about what the server does not have");
    assert!(failed.values().all(|kind| kind == "upstream"), "{failed:?}");
    let events = ran.of("row_failed");
    let museum = events.iter().find(|event| event["step"] == "ingest" && event["item"] == "museum");
    let message = museum.expect("a failed row")["error"]["message"].as_str().expect("a message").to_string();
    // What was taken in is not handed over again.
    server.script(|_| Act::Answer);
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("ingest"), ["museum", "the knowledge base"]);
    assert!(failures(&space).is_empty());
    message
}

#[test]
fn a_document_that_is_not_taken_in_fails_its_unit_and_no_other_document() {
    assert!(one_document_meets(Act::FailedTask, "").contains("failed: Directory import incomplete"));
    assert!(one_document_meets(Act::Cancelled, "").contains("its status is \"cancelled\""));
    assert!(one_document_meets(Act::Nulls, "").contains("result.task_id: expected a text"));
    assert!(one_document_meets(Act::FailedTask, ", wait: true").contains("500: PROCESSING_ERROR"));
    assert!(one_document_meets(Act::Cancelled, ", wait: true").contains("its status is \"cancelled\""));
}

/// The exit code of a run in which some cases could not be asked.
const FAILED: i32 = 10;

#[test]
fn a_task_that_never_ends_is_given_up() {
    let server = OpenViking::new();
    server.script(|asked| if asked.call == "add" { Act::HungTask } else { Act::Answer });
    let space = town(&server, "");
    add(&space, "limits: {ingest: {timeout_s: 1}}\n");
    let ran = space.run("").expect(20);
    assert_eq!(server.counts()["add"], 1, "it is not begun again");
    assert!(ran.stderr.contains("did not end within 1 s (`limits.ingest.timeout_s`)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("last seen: running, at the stage"), "{}", ran.stderr);
    assert_eq!(ran.of("row_retried").len(), 0);
}

#[test]
fn a_server_that_cannot_be_used_is_said_to_be_so() {
    // It refuses us.
    let server = OpenViking::new();
    server.require_key("another key");
    let space = town(&server, "");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("UNAUTHENTICATED"), "{}", ran.stderr);
    assert_eq!(server.counts().get("upload"), None);

    // It is another one than the file says, before and after documents were handed over.
    let server = OpenViking::new();
    server.upgrade("0.6.0");
    let space = town(&server, "");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("the server is of version \"0.6.0\""), "{}", ran.stderr);
    assert_eq!(server.counts(), counts(&[("health", 1)]));
    space.edit("evaluation.yaml", "version: \"0.5.2\"", "version: \"0.6.0+m3\"");
    space.run("").expect(0);
    server.upgrade("0.7.0");
    space.run("").expect(0).expect_nothing();
    space.edit("cases.jsonl", "When was the lighthouse built?", "In which year was the lighthouse built?");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("the server is of version \"0.7.0\""), "{}", ran.stderr);
    assert_eq!(failures(&space).into_keys().collect::<Vec<_>>(), ["built"]);

    // It is not there.
    let space = Space::new();
    small::write(&space);
    ask_server(&space, &server, "");
    let text = space.read("evaluation.yaml").replace(&server.url(), "http://127.0.0.1:9");
    space.write("evaluation.yaml", &(text + "limits: {ingest: {retries: 0}}\n"));
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("cannot be handed to the system"), "{}", ran.stderr);
}

#[test]
fn a_run_that_is_killed_while_it_hands_over_begins_nothing_twice() {
    // One by one: the fifth never arrives.
    let server = OpenViking::new();
    server.script(|asked| if asked.call == "add" && asked.number == 5 { Act::Hold } else { Act::Answer });
    let space = town(&server, ", ingest_mode: per_file, ingest_workers: 2");
    let running = Running::start(&space, "killed.jsonl", "");
    server.wait_for_held(1);
    running.kill();
    server.script(|_| Act::Answer);
    space.run("").expect(0);
    let begun = server.begun();
    assert_eq!(begun.len(), DOCUMENT_COUNT);
    assert!(begun.values().all(|count| *count == 1), "{begun:?}");
    assert!(failures(&space).is_empty());

    // As one folder: the task is under way while nobody waits for it.
    let server = OpenViking::new();
    server.script(|asked| if asked.call == "task" { Act::Hold } else { Act::Answer });
    let space = town(&server, "");
    let running = Running::start(&space, "killed.jsonl", "");
    server.wait_for_held(1);
    running.kill();
    server.script(|_| Act::Answer);
    space.run("").expect(0);
    let asked = server.counts();
    assert_eq!(server.begun().into_values().collect::<Vec<_>>(), [1], "{asked:?}");
    assert!(failures(&space).is_empty());
}

#[test]
fn what_a_killed_run_had_handed_over_and_is_gone_is_handed_over_again() {
    let server = OpenViking::new();
    server.script(|asked| if asked.call == "add" && asked.number == 5 { Act::Hold } else { Act::Answer });
    let space = town(&server, ", ingest_mode: per_file, ingest_workers: 1");
    let running = Running::start(&space, "killed.jsonl", "");
    server.wait_for_held(1);
    running.kill();
    server.script(|_| Act::Answer);
    server.lose("ragstage-");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("were handed to the system \"fine\" and are not there"), "{}", ran.stderr);
    assert_eq!(server.files(), Vec::<String>::new(), "what was left is removed");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("ingest").len(), DOCUMENT_COUNT + 1);
    assert_eq!(server.files().len(), DOCUMENT_COUNT);
}

#[test]
fn only_what_was_put_there_is_removed() {
    let server = OpenViking::new();
    let foreign = ["viking://resources/diary/today.md", "viking://resources/ragstage-notes/a.md"];
    foreign.iter().for_each(|uri| server.put(uri, "The lighthouse was built by nobody."));
    let space = units(&server, "");
    space.run("").expect(0);
    // Nobody else's text is found.
    assert!(results(&space, "built").iter().all(|result| result["source"]["document_id"].is_string()));
    let listed = space.ragstage("kb list --format json evaluation.yaml").expect(0).json();
    let listed: Vec<String> = listed["knowledge_bases"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|kb| kb["handle"].as_str().expect("a handle").to_string())
        .collect();
    assert_eq!(listed.len(), UNITS.len());
    server.counts();
    let deleted = space.ragstage("kb delete evaluation.yaml").expect(0).stdout;
    assert!(deleted.contains("4 removed"), "{deleted}");
    let mut removed = server.asked("rm");
    removed.sort();
    let mut expected = listed;
    expected.sort();
    assert_eq!(removed, expected);
    assert_eq!(server.files(), foreign);
    let again = space.ragstage("kb delete evaluation.yaml").expect(0).stdout;
    assert!(again.contains("nothing to remove"), "{again}");
    // The responses are still there; who asks more hands over first.
    server.counts();
    space.run("").expect(0).expect_nothing();
    assert_eq!(server.counts(), counts(&[]));
    space.edit("cases.jsonl", "When was the lighthouse built?", "In which year was the lighthouse built?");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], server.counts()["add"]), (1, 1));
}

#[test]
fn documents_that_are_there_already_are_asked_for_and_never_touched() {
    let server = OpenViking::new();
    server.put("viking://resources/town/light.md", "The lighthouse was built in 1871.");
    let space = town(&server, ", ingest_mode: none, target: 'viking://resources/town'");
    space.run("").expect(0);
    assert_eq!(results(&space, "built")[0]["id"], "viking://resources/town/light.md");
    let asked = server.counts();
    assert_eq!(asked, counts(&[("health", 1), ("find", CASE_COUNT), ("read", CASE_COUNT)]));
    let deleted = space.ragstage("kb delete evaluation.yaml").expect(0).stdout;
    assert!(deleted.contains("nothing to remove"), "{deleted}");
    assert_eq!(server.files().len(), 1);
}

#[test]
fn a_key_is_sent_and_kept_nowhere() {
    let server = OpenViking::new();
    server.require_key(SECRET);
    let space = town(&server, ", api_key_env: OV_KEY, account: acme, user: me");
    // A document whose question the server refuses in words that hold the key.
    server.script(|asked| match asked.what.as_str() {
        "When was the lighthouse built?" => Act::Body(400, "no right for ov-kTz9-very-secret-9f31"),
        "How many steps does the keeper climb?" => {
            Act::Body(200, r#"{"status": "ok", "result": {"resources": [{"uri": "ov-kTz9-very-secret-9f31"}]}}"#)
        }
        _ => Act::Answer,
    });
    let mut command = space.command();
    command.args(["run", "--events", "events.jsonl"]).env("OV_KEY", SECRET);
    let ran = Ran::of_command(command).expect(10);
    let failed = failures(&space);
    assert_eq!((failed["built"].as_str(), failed["steps"].as_str()), ("refused", "bad_reply"));
    assert_eq!(failed.len(), 2);
    for printed in [&ran.stdout, &ran.stderr] {
        assert!(!printed.contains(SECRET), "{printed}");
    }
    for (name, bytes) in space.files("") {
        let holds = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!holds, "{name} holds the key");
    }
    // Without it nothing is asked, and a listing needs none.
    assert!(space.run("").expect(3).stderr.contains("`OV_KEY` is not set"));
    space.ragstage("kb list evaluation.yaml").expect(0);
}

#[test]
fn an_evaluation_file_says_what_a_server_can_be_asked() {
    let server = OpenViking::new();
    let space = town(&server, "");
    space.edit("evaluation.yaml", "mode: find, name: found", "mode: vector_search, options: {limit: 3}, name: found");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("an OpenViking server, whose only mode is `find`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`limit` is written by ragstage into each query"), "{}", ran.stderr);
    assert_eq!(server.counts(), counts(&[]));
    let planned = {
        space.edit("evaluation.yaml", "mode: vector_search, options: {limit: 3}", "mode: find, options: {level: 2}");
        space.ragstage("plan evaluation.yaml").expect(0).stdout
    };
    assert!(planned.contains("of systems that take documents in"), "{planned}");
    assert_eq!(server.counts(), counts(&[]));
}

/// The type of each field, lists by their first element. Of what the real server says, only what the other side says too: it says
/// more of its insides.
fn shape(value: &Value, beside: &Value) -> Value {
    match (value, beside) {
        (Value::Object(fields), Value::Object(others)) => {
            let both = fields.iter().filter_map(|(name, field)| Some((name.clone(), shape(field, others.get(name)?))));
            Value::Object(both.collect())
        }
        (Value::Array(items), Value::Array(others)) => match (items.first(), others.first()) {
            (Some(first), Some(other)) => json!([shape(first, other)]),
            _ => json!([]),
        },
        (Value::Object(_), _) => "object".into(),
        (Value::Array(_), _) => "list".into(),
        (Value::String(_), _) => "text".into(),
        (Value::Number(_), _) => "number".into(),
        (Value::Bool(_), _) => "truth value".into(),
        (Value::Null, _) => "null".into(),
    }
}

/// What a server of ours replies to the recorded requests has the status, and as far as it says anything the shape, of what was recorded.
#[test]
fn the_server_of_the_tests_replies_as_a_real_one_did() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("the recording is JSON");
    let exchanges = recorded["exchanges"].as_array().expect("exchanges");
    assert_eq!(recorded["version"], super::openviking_server::VERSION);
    let server = OpenViking::new();
    compare(&server, exchanges);
    let server = OpenViking::new();
    server.require_key(SECRET);
    compare(&server, recorded["with_key"].as_array().expect("exchanges"));
    let server = OpenViking::new();
    server.tasks_take(1);
    compare(&server, recorded["busy"].as_array().expect("exchanges"));
}

/// Sends recorded requests in order, and compares what is replied.
fn compare(server: &OpenViking, exchanges: &[Value]) {
    // Ids of uploads and tasks as recorded, and as this server gave them.
    let mut ids: Vec<(String, String)> = Vec::new();
    let ours = |text: &str, ids: &[(String, String)]| {
        ids.iter().fold(text.to_string(), |text, (theirs, ours)| text.replace(theirs, ours))
    };
    for exchange in exchanges {
        let call = exchange["call"].as_str().expect("a call");
        let request = &exchange["request"];
        let path = ours(request["path"].as_str().expect("a path"), &ids);
        let body = ours(&request["json"].to_string(), &ids);
        let method = request["method"].as_str().expect("a method");
        let (status, reply) = exchanged(server, method, &path, body, request);
        assert_eq!(json!(status), exchange["status"], "{call}: {reply}");
        let expected = &exchange["reply"];
        assert_eq!(shape(&reply, expected), shape(expected, &reply), "{call}: {reply}");
        // What a client reads must be in both.
        for pointer in [
            "/status",
            "/version",
            "/error/code",
            "/error/message",
            "/error/details/conflict_type",
            "/error/details/validation_errors/0/loc",
            "/result/temp_file_id",
            "/result/task_id",
            "/result/status",
            "/result/root_uri",
            "/result/result/root_uri",
            "/result/result/telemetry/summary/tokens/embedding/total",
            "/result/telemetry/summary/tokens/embedding/total",
            "/result/resources/0/uri",
            "/result/resources/0/level",
            "/result/resources/0/score",
            "/result/resources/0/abstract",
            "/telemetry/summary/tokens/embedding/total",
            "/telemetry",
            "/result/meta/unsupported_files/0/path",
            "/result/total",
            "/result/estimated_deleted_count",
            "/result/semantic_root_uri",
            "/result/0/task_id",
            "/result/0/task_type",
            "/result/0/status",
            "/result/0/resource_id",
            "/has_more",
        ] {
            let (ours, theirs) = (reply.pointer(pointer), expected.pointer(pointer));
            assert_eq!(ours.is_some(), theirs.is_some(), "{call}: {pointer}: {reply}");
        }
        for pointer in ["/result/temp_file_id", "/result/task_id"] {
            if let (Some(theirs), Some(ours)) = (expected.pointer(pointer), reply.pointer(pointer)) {
                let text = |id: &Value| id.as_str().expect("an id").to_string();
                ids.push((text(theirs), text(ours)));
            }
        }
        // Values that are not the server's own.
        for pointer in [
            "/status",
            "/version",
            "/auth_mode",
            "/error/code",
            "/error/details/conflict_type",
            "/error/details/retryable",
            "/error/details/validation_errors/0/loc",
            "/error/details/validation_errors/0/type",
            "/result/status",
            "/result/root_uri",
            "/result/result/root_uri",
            "/result/context_count",
            "/result/result/context_count",
            "/result/meta/unsupported_files/0/path",
            "/result/total",
            "/result/estimated_deleted_count",
            "/result/semantic_root_uri",
            "/result/0/task_type",
            "/result/0/status",
        ] {
            assert_eq!(reply.pointer(pointer), expected.pointer(pointer), "{call}: {pointer}");
        }
        if call.starts_with("ls") || call.starts_with("read") {
            assert_eq!(reply["result"], expected["result"], "{call}: the same texts are at the same places");
        }
    }
}

/// Sends a recorded request.
fn exchanged(server: &OpenViking, method: &str, path: &str, body: String, request: &Value) -> (u16, Value) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("{}{path}", server.url());
    let key = match request["key"].as_str() {
        Some("right") => SECRET,
        Some(_) => "another key",
        None => "",
    };
    let sent = match method {
        "GET" if key.is_empty() => agent.get(url).call(),
        "GET" => agent.get(url).header("X-API-Key", key).call(),
        "DELETE" => agent.delete(url).call(),
        _ if request["form"].is_string() || request["file"].is_string() => {
            agent.post(url).header("content-type", "multipart/form-data; boundary=b").send(form(request))
        }
        _ => agent.post(url).header("content-type", "application/json").send(body),
    };
    let mut response = sent.expect("a reply");
    let reply = response.body_mut().read_to_string().expect("a text");
    (response.status().as_u16(), serde_json::from_str(&reply).expect("JSON"))
}

/// The form of a recorded upload: a text, a zip archive, or nothing.
fn form(request: &Value) -> Vec<u8> {
    let mut form = Vec::new();
    if let Some(name) = request["file"].as_str() {
        form.extend(
            format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n").bytes(),
        );
        match request["files"].as_object() {
            Some(files) => {
                let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
                for (name, text) in files {
                    archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("a file");
                    archive.write_all(text.as_str().expect("a text").as_bytes()).expect("its text");
                }
                form.extend(archive.finish().expect("an archive").into_inner());
            }
            None => form.extend(request["text"].as_str().expect("a text").bytes()),
        }
        form.extend(b"\r\n");
    }
    form.extend(b"--b--\r\n");
    form
}
