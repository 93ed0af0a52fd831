//! The evaluation file and the command line: faults with their places, secrets that stay secret, a starter that runs.

use std::io::Read;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::small::{self, CASE_COUNT};
use super::space::Space;

const SECRET: &str = "kTz9-very-secret-9f31";

#[test]
fn five_faults_are_told_at_once_with_their_places() {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "  documents: documents.jsonl", "  document: documents.jsonl");
    space.edit("evaluation.yaml", "size: 12", "size: twelve");
    space.edit("evaluation.yaml", "mode: full_text_search", "mode: fulltext_search");
    space.edit("evaluation.yaml", "top_k: 3", "topk: 3");
    space.edit("evaluation.yaml", "answer_contains]", "answer_contain]");
    let ran = space.ragstage("run").expect(3);
    for told in [
        "evaluation.yaml:5:3: benchmark: unknown key `document`",
        "did you mean `documents`?",
        "evaluation.yaml:9:19: recipes[0].chunk.size: expected a whole number",
        "evaluation.yaml:11:12: queries[0].mode: the recipe `fine` has no mode `fulltext_search`",
        "did you mean `full_text_search`?",
        "evaluation.yaml:11:41: queries[0]: unknown key `topk`",
        "did you mean `top_k`?",
        "evaluation.yaml:13:33: evaluators[1]",
        "answer_contains",
    ] {
        assert!(ran.stderr.contains(told), "no {told:?} in\n{}", ran.stderr);
    }
    assert!(ran.stderr.contains("faults in the evaluation file"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(!space.path(".ragstage").exists(), "nothing was begun");
    for command in ["plan", "status", "graph", "score", "explain score", "report"] {
        assert_eq!(space.ragstage(command).expect(3).stderr, ran.stderr, "{command}");
    }
}

#[test]
fn a_missing_evaluation_file_says_how_to_get_one() {
    let space = Space::new();
    let ran = space.ragstage("run").expect(3);
    assert!(ran.stderr.contains("evaluation.yaml") && ran.stderr.contains("ragstage init"), "{}", ran.stderr);
}

#[test]
fn json_is_an_evaluation_file_too() {
    let space = small::evaluated();
    space.write(
        "evaluation.json",
        r#"{"name": "small", "benchmark": {"adapter": "jsonl", "name": "harbour", "documents": "documents.jsonl", "cases": "cases.jsonl"},
            "recipes": [{"name": "fine", "chunk": {"size": 12}}],
            "queries": [{"mode": "full_text_search", "name": "bm25", "top_k": 3}],
            "answer": {"provider": "extractive", "sentences": 1, "results": 2},
            "evaluators": ["evidence_recall@3", "answer_contains"], "statistics": {"resamples": 100}}"#,
    );
    space.run("evaluation.json").expect(0).expect_nothing();
}

/// Whatever a run leaves or prints must not hold the secret.
fn assert_no_secret(space: &Space, printed: &[&str]) {
    for text in printed {
        assert!(!text.contains(SECRET), "{text}");
    }
    let files = space.files(".");
    assert!(files.keys().any(|name| name.starts_with(".ragstage/actions-v1/")), "there is a store to look through");
    for (name, bytes) in files {
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{name} holds the secret");
    }
}

/// A server of a system under test; `refuse` makes it quote the header that it was sent in a refusal.
fn serve(refuse: bool) -> (String, Arc<AtomicUsize>) {
    let server = tiny_http::Server::http("127.0.0.1:0").expect("a server");
    let url = format!("http://{}/query", server.server_addr().to_ip().expect("an address"));
    let authorized = Arc::new(AtomicUsize::new(0));
    let count = authorized.clone();
    std::thread::spawn(move || {
        for mut request in server.incoming_requests() {
            let mut body = String::new();
            let _ = request.as_reader().read_to_string(&mut body);
            let header = request.headers().iter().find(|header| header.field.equiv("Authorization"));
            let sent = header.map(|header| header.value.to_string()).unwrap_or_default();
            if sent == format!("Bearer {SECRET}") {
                count.fetch_add(1, Ordering::SeqCst);
            }
            let (status, reply) = match refuse {
                true => (400, format!("I do not like {sent}")),
                false => (
                    200,
                    r#"{"results": [{"id": "p", "text": "It was built in 1871."}], "answer": "1871"}"#.to_string(),
                ),
            };
            let _ = request.respond(tiny_http::Response::from_string(reply).with_status_code(status));
        }
    });
    (url, authorized)
}

fn with_token(url: &str) -> Space {
    let space = Space::new();
    small::write_system(&space);
    space.edit(
        "evaluation.yaml",
        "command: [sh, system.sh], version: \"1\", files: [system.sh]",
        &format!("http: \"{url}\", version: \"1\", headers: {{Authorization: \"Bearer ${{TOKEN}}\"}}"),
    );
    // The server serves one connection at a time.
    space.write(
        "evaluation.yaml",
        &(space.read("evaluation.yaml") + "limits: {queries: {concurrency: 1, retries: 0}}\n"),
    );
    space
}

#[test]
fn a_secret_is_sent_and_kept_nowhere() {
    let (url, authorized) = serve(false);
    let space = with_token(&url);
    let run = |arguments: &[&str]| {
        let output = space.command().args(arguments).env("TOKEN", SECRET).output().expect("the command starts");
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
        assert_no_secret(&space, &[&stdout, &stderr]);
    };
    run(&["run", "--events", "events.jsonl", "--depfile", "deps.mk", "--stamp", "stamp"]);
    assert_eq!(authorized.load(Ordering::SeqCst), CASE_COUNT, "the system was sent it");
    run(&["plan", "--all"]);
    run(&["explain", "retrieve", "--format", "json"]);
    run(&["graph", "--format", "json"]);
    run(&["status", "--format", "json"]);
    run(&["report", "--format", "json"]);

    // Another secret is no other system.
    let output = space.command().arg("run").env("TOKEN", "another").output().expect("the command starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Nothing to do"));
}

#[test]
fn a_secret_that_the_system_quotes_in_a_refusal_is_masked() {
    let (url, authorized) = serve(true);
    let space = with_token(&url);
    let output = space
        .command()
        .args(["run", "--events", "events.jsonl"])
        .env("TOKEN", SECRET)
        .output()
        .expect("the command starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_ne!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(authorized.load(Ordering::SeqCst) > 0);
    assert!(space.read("events.jsonl").contains("I do not like"), "the refusal is told");
    assert_no_secret(&space, &[&stdout, &stderr]);
}

#[test]
fn a_secret_of_a_command_is_kept_nowhere() {
    let space = Space::new();
    small::write_system(&space);
    space.edit("evaluation.yaml", "version: \"1\",", "version: \"1\", environment: {KEY: \"${TOKEN}\"},");
    space.edit("system.sh", "while read", "echo \"my key is $KEY\" >&2\n[ -n \"$KEY\" ] || exit 1\nwhile read");
    let output =
        space.command().args(["run", "--events", "e.jsonl"]).env("TOKEN", SECRET).output().expect("the command starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert_no_secret(&space, &[&stdout, &stderr]);
}

#[test]
fn a_variable_that_is_not_set_is_a_fault() {
    let space = with_token("http://127.0.0.1:9/query");
    let output = space.command().arg("run").env_remove("TOKEN").output().expect("the command starts");
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the environment variable `TOKEN` is not set"), "{stderr}");
}

#[test]
fn the_starter_runs_and_is_never_overwritten() {
    let space = Space::new();
    let ran = space.ragstage("init mine").expect(0);
    assert!(ran.stdout.contains("Next: ragstage run mine/evaluation.yaml"), "{}", ran.stdout);
    let ran = space.run("mine/evaluation.yaml").expect(0);
    assert!(ran.stdout.contains("evidence_recall@5"), "{}", ran.stdout);
    assert!(space.path("mine/reports/mine/report.html").is_file());
    space.run("mine/evaluation.yaml").expect(0).expect_nothing();

    space.edit("mine/evaluation.yaml", "top_k: 10", "top_k: 7");
    let before = space.files("mine");
    let ran = space.ragstage("init mine").expect(3);
    assert!(ran.stderr.contains("exists already; nothing was written"), "{}", ran.stderr);
    assert_eq!(space.files("mine"), before);
    // One of the files is enough to refuse.
    space.write("half/cases.jsonl", "mine\n");
    space.ragstage("init half").expect(3);
    assert!(!space.path("half/evaluation.yaml").exists());
}

#[test]
fn the_schema_is_json() {
    let schema = Space::new().ragstage("schema").expect(0).json();
    assert!(schema["$schema"].as_str().is_some_and(|version| version.contains("json-schema.org")), "{schema:#}");
    let text = schema.to_string();
    for key in ["\"benchmark\"", "\"recipes\"", "\"evaluators\"", "\"gates\"", "\"limits\"", "\"top_k\""] {
        assert!(text.contains(key), "{key}");
    }
}

#[test]
fn completions_for_shells() {
    let space = Space::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = space.ragstage(&format!("completions {shell}")).expect(0).stdout;
        assert!(script.contains("ragstage") && script.contains("explain"), "{shell}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let space = Space::new();
    let commands = "run score plan status explain graph report kb cache models init schema completions";
    let help = space.ragstage("--help").expect(0).stdout;
    for command in commands.split(' ') {
        assert!(help.contains(&format!("  {command} ")), "{command} is not in the list of commands");
        let own = space.ragstage(&format!("{command} --help")).expect(0);
        assert!(own.stdout.contains(&format!("Example:\n  ragstage {command}")), "{command}\n{}", own.stdout);
        assert_eq!(own.stderr, "");
    }
    let nested =
        ["kb list", "kb delete", "cache size", "cache verify", "cache gc", "models list", "models get", "models path"];
    for command in nested {
        let own = space.ragstage(&format!("{command} --help")).expect(0).stdout;
        let (_, example) = own.split_once("Example:\n").unwrap_or_else(|| panic!("{command}\n{own}"));
        assert!(example.contains(&format!("ragstage {command}")), "{command}\n{own}");
    }
    assert!(help.contains("Exit codes:"), "{help}");
    assert!(space.ragstage("--version").expect(0).stdout.starts_with("ragstage "));
}

#[test]
fn the_store_is_offered_where_there_is_one() {
    let space = Space::new();
    for command in ["models", "models get", "init", "schema", "completions"] {
        let help = space.ragstage(&format!("{command} --help")).expect(0).stdout;
        assert!(!help.contains("--store"), "{command}\n{help}");
    }
    for command in ["run", "kb list", "cache gc", "explain"] {
        let help = space.ragstage(&format!("{command} --help")).expect(0).stdout;
        assert!(help.contains("--store"), "{command}\n{help}");
    }
    let help = space.ragstage("models --help").expect(0).stdout;
    assert!(help.contains("$RAGSTAGE_MODELS") && help.contains("~/.local/share/ragstage/models"), "{help}");
    space.ragstage("models list --store elsewhere").expect(0);
    space.ragstage("--store elsewhere schema").expect(0);
}

#[test]
fn an_evaluation_file_among_the_items_is_told_its_flag() {
    let space = small::evaluated();
    let hint = "name an evaluation file with --file more.yaml";
    let ran = space.ragstage("explain retrieve small more.yaml").expect(3);
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    let other = Space::new();
    let ran = other.ragstage("explain retrieve more.yaml").expect(3);
    assert!(ran.stderr.contains("name the evaluation file with --file more.yaml"), "{}", ran.stderr);
    let ran = space.ragstage("explain retrieve nothing").expect(3);
    assert!(ran.stderr.contains("plan --all") && !ran.stderr.contains("--file"), "{}", ran.stderr);
}

#[test]
fn a_wrong_command_line_is_two() {
    let space = small::evaluated();
    for wrong in [
        "",
        "rnu",
        "run --frobnicate",
        "run --until nowhere",
        "run --format xml",
        "score --evaluator no_such_measure",
        "plan --evaluator nDCG@",
        "explain",
        "explain nothing",
        "graph --format png",
        "report --format pdf",
        "cache",
        "completions tcsh2",
    ] {
        let ran = space.ragstage(wrong).expect(2);
        assert!(!ran.stderr.is_empty(), "{wrong}");
        assert_eq!(ran.stdout, "", "{wrong}");
    }
    space.write("other.yaml", &small::EVALUATION.replace("name: small", "name: other"));
    space.ragstage("run evaluation.yaml other.yaml --output x").expect(2);
}

/// The exit code of the command when nobody reads what it prints.
fn unread(space: &Space, arguments: &str, close_stderr: bool) -> Option<i32> {
    let mut command = space.command();
    command.args(arguments.split(' ')).stdout(Stdio::piped());
    command.stderr(if close_stderr { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().expect("the command starts");
    drop(child.stdout.take());
    drop(child.stderr.take());
    child.wait().expect("the command ends").code()
}

#[test]
fn a_reader_that_went_away_is_no_crash() {
    let space = small::evaluated();
    for command in ["run", "plan --all", "graph", "report --format html", "schema", "completions bash", "explain score"]
    {
        assert_eq!(unread(&space, command, false), Some(0), "{command}");
    }
    // As in `ragstage run 2>&1 | head -1`, with progress, a failed gate and a fault to tell.
    space.edit("evaluation.yaml", "top_k: 3", "top_k: 2");
    assert_eq!(unread(&space, "run", true), Some(0));
    space.write(
        "evaluation.yaml",
        &(space.read("evaluation.yaml") + "gates: [{measure: answer_contains, at_least: 2}]\n"),
    );
    assert_eq!(unread(&space, "run", true), Some(12));
    assert_eq!(unread(&space, "run nowhere.yaml", true), Some(3));
    assert!(space.path("reports/small/report.html").is_file());
}

#[test]
fn what_is_asked_for_goes_to_stdout_and_the_rest_to_stderr() {
    let space = Space::new();
    small::write(&space);
    let mut command = space.command();
    let mut child = command
        .args(["run", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().expect("stdout").read_to_string(&mut stdout).expect("read");
    child.stderr.take().expect("stderr").read_to_string(&mut stderr).expect("read");
    child.wait().expect("the command ends");
    serde_json::from_str::<serde_json::Value>(&stdout).expect("JSON alone");
    assert!(stderr.contains("retrieve"), "{stderr}");
    let quiet = space.ragstage("run --quiet --force score").expect(0);
    assert_eq!(quiet.stderr, "");
}
