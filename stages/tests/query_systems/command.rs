//! As processes, with shell scripts for systems.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ragstage_stages::artifact::Results;
use ragstage_stages::contract::{Action, Artifact};
use ragstage_stages::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::query::Transport;

use super::{REPLY, ask, retrieve};
use crate::harbour::run;
use crate::memory::MemoryContext;

fn shell(script: &str, directory: &Path) -> Transport {
    Transport::Command {
        command: ["sh", "-c", script].map(str::to_string).to_vec(),
        directory: directory.to_path_buf(),
        environment: vec![
            ("REPLY_LINE".to_string(), REPLY.to_string()),
            ("TOKEN".to_string(), "tk-secret".to_string()),
        ],
        variables: vec![("OUR_TOKEN".to_string(), "tk-secret".to_string())],
        operations: Vec::new(),
    }
}

fn error_of(script: &str) -> RowError {
    let error = ask(&MemoryContext::default(), shell(script, Path::new("."))).error.expect("the row fails");
    assert!(!error.message.contains("tk-secret"), "{}", error.message);
    error
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_string).collect()
}

#[test]
fn a_query_is_a_line_in_the_given_place() {
    let directory = tempfile::tempdir().expect("directory");
    let script = r#"while read -r line; do echo "$line" >> requests; echo "$REPLY_LINE"; done"#;
    let row = ask(&MemoryContext::default(), shell(script, directory.path()));
    assert_eq!(row.error, None);
    assert_eq!(&*row.results[0].text, "Built in 1871.");
    assert_eq!(
        lines(&directory.path().join("requests")),
        [r#"{"query":"When?","mode":"hybrid","top_k":3,"options":{"rerank":true},"id":1}"#]
    );
}

#[test]
fn processes_are_kept_as_many_as_calls_at_once_and_end_with_the_action() {
    let directory = tempfile::tempdir().expect("directory");
    let script = r#"echo $$ >> started; while read -r line; do echo "$REPLY_LINE"; done; sleep 600"#;
    let cases: Vec<(String, String)> = (0..40).map(|i| (format!("q{i}"), format!("Question {i}?"))).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let memory = MemoryContext::default();
    let (outputs, failed) = run(&memory, &retrieve(&memory, shell(script, directory.path()), &cases));
    assert_eq!(failed, 0);
    let results: Results = memory.read(&outputs["results"]);
    assert_eq!(results.rows.len(), 40);
    let started = lines(&directory.path().join("started"));
    // The context of these tests makes at most four calls at once.
    assert!((1..=4).contains(&started.len()), "{started:?}");
    for process in started {
        let alive = std::process::Command::new("sh").args(["-c", &format!("kill -0 {process} 2>/dev/null")]).status();
        assert!(!alive.expect("sh").success(), "process {process} is still there");
    }
}

#[test]
fn a_reply_belongs_to_its_query() {
    let directory = tempfile::tempdir().expect("directory");
    // The id of the result is the question.
    let script = r#"while read -r line; do rest="${line#*:\"}"; echo "{\"results\":[{\"id\":\"${rest%%\"*}\",\"text\":\"\"}]}"; done"#;
    let cases: Vec<(String, String)> = (0..30).map(|i| (format!("q{i}"), format!("Question {i}?"))).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let memory = MemoryContext::default();
    let (outputs, _) = run(&memory, &retrieve(&memory, shell(script, directory.path()), &cases));
    let results: Results = memory.read(&outputs["results"]);
    for (row, (case_id, question)) in results.rows.iter().zip(&cases) {
        assert_eq!((row.case_id.as_str(), row.results[0].id.as_str()), (*case_id, *question));
    }
}

/// Asks more questions than there are processes and gives the rows, or why the action failed.
fn twelve(script: &str) -> Result<Results, String> {
    let cases: Vec<(String, String)> = (0..12).map(|i| (format!("q{i}"), format!("Question {i}?"))).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let memory = MemoryContext::default();
    match retrieve(&memory, shell(script, Path::new(".")), &cases).run(&memory) {
        Err(StageError { kind: StageErrorKind::Doubt(why), .. }) => Err(why),
        Err(error) => panic!("{error}"),
        Ok(produced) => {
            let results = produced.outputs.into_iter().find(|output| output.name == "results").expect("results");
            Ok(Results::decode(results.bytes).expect("decode"))
        }
    }
}

#[test]
fn one_line_too_many_puts_earlier_replies_in_doubt() {
    for script in [
        // At once, and so late that it may be taken for the next reply.
        r#"read -r line; echo "$REPLY_LINE"; while read -r line; do echo "$REPLY_LINE"; echo "$REPLY_LINE"; done"#,
        r#"read -r line; echo "$REPLY_LINE"; while read -r line; do echo "$REPLY_LINE"; sleep 0.02; echo "$REPLY_LINE"; done"#,
        // Only after the end of the input.
        r#"while read -r line; do echo "$REPLY_LINE"; done; echo "done with $TOKEN""#,
    ] {
        let why = twelve(script).expect_err(script);
        assert!(why.contains("wrote a line that nobody asked for: "), "{why}");
        assert!(why.contains("asks all again") && why.contains("\"id\""), "{why}");
        assert!(!why.contains("tk-secret"), "{why}");
    }
}

#[test]
fn a_process_that_always_writes_too_much_has_no_reply_kept() {
    // Unless the second line is very late, which puts the first reply in doubt instead.
    if let Ok(results) = twelve(r#"while read -r line; do printf '%s\n%s\n' "$REPLY_LINE" "$REPLY_LINE"; done"#) {
        for row in results.rows {
            let error = row.error.expect("no reply is kept");
            assert_eq!(error.kind, RowErrorKind::BadReply);
            assert!(error.message.contains("wrote a line that nobody asked for: "), "{}", error.message);
        }
    }
}

/// Puts the request's id into `$id`.
const READ_ID: &str = r#"id="${line##*:}"; id="${id%\}}";"#;

#[test]
fn a_reply_that_repeats_the_id_is_proved() {
    let echo = r#"echo "{\"results\":[{\"id\":\"r$id\",\"text\":\"\"}],\"id\":$id}""#;
    let rows = twelve(&format!("while read -r line; do {READ_ID} {echo}; done")).expect("in step").rows;
    assert!(rows.iter().all(|row| row.error.is_none() && row.results[0].id.starts_with('r')));
    // A line too many costs the next case its reply and spoils nothing else.
    let rows =
        twelve(&format!("while read -r line; do {READ_ID} {echo}; sleep 0.02; {echo}; done")).expect("proved").rows;
    for row in &rows {
        let error = row.error.as_ref();
        assert!(error.is_none_or(|error| error.kind == RowErrorKind::BadReply), "{error:?}");
    }
    assert!(rows.iter().any(|row| row.error.is_none()));
    // An id that is another one, and one that is missing after it was there.
    let other = error_of(r#"while read -r line; do echo '{"results":[],"id":7}'; done"#);
    assert_eq!((other.kind, other.message.as_str()), (RowErrorKind::BadReply, OTHER_ID));
    let mixed =
        format!("while read -r line; do {READ_ID} case $id in 1) {echo};; *) echo '{{\"results\":[]}}';; esac; done");
    let rows = twelve(&mixed).expect("proved").rows;
    for row in rows.iter().filter(|row| row.error.is_none()) {
        assert_eq!(row.results[0].id, "r1");
    }
    assert!(rows.iter().any(|row| row.error.as_ref().is_some_and(|error| error.message.contains("found nothing"))));
}

const OTHER_ID: &str = "id: expected 1 as in the request, found the number 7";

#[test]
fn a_process_that_ends_leaves_its_last_words() {
    let error = error_of("read -r line; echo \"token $TOKEN\" >&2; echo 'no index' >&2; exit 3");
    assert_eq!(error.kind, RowErrorKind::Process);
    assert!(error.message.contains("exit status: 3"), "{}", error.message);
    assert!(error.message.contains("ends with: token ***\nno index"), "{}", error.message);
    let long = error_of("i=0; while [ $i -lt 2000 ]; do echo \"line $i\" >&2; i=$((i+1)); done; exit 1");
    assert!(long.message.contains("line 1999") && long.message.len() < 2300, "{}", long.message.len());
    let silent = error_of("exec true");
    assert!(silent.message.contains("nothing on its standard error"), "{}", silent.message);
}

#[test]
fn a_process_that_cannot_be_started() {
    let transport = Transport::Command {
        command: vec!["no-such-program-of-ours".to_string()],
        directory: ".".into(),
        environment: Vec::new(),
        variables: Vec::new(),
        operations: Vec::new(),
    };
    let error = ask(&MemoryContext::default(), transport).error.expect("the row fails");
    assert_eq!(error.kind, RowErrorKind::Process);
    assert!(error.message.starts_with("cannot start \"no-such-program-of-ours\": "), "{}", error.message);
}

#[test]
fn lines_that_are_no_replies() {
    let error = error_of("while read -r line; do echo \"loading model with $TOKEN\"; done");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.contains("found loading model with ***: "), "{}", error.message);
    let unasked = error_of("echo hello; while read -r line; do sleep 5; done");
    assert_eq!(unasked.kind, RowErrorKind::BadReply);
    assert!(unasked.message.contains("hello"), "{}", unasked.message);
}

#[test]
fn a_reply_with_a_secret_is_not_kept() {
    let error = error_of(r#"while read -r line; do echo "{\"results\":[],\"answer\":\"it is $TOKEN\"}"; done"#);
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.contains("holds the value of the environment variable OUR_TOKEN,"), "{}", error.message);
}

#[test]
fn a_line_that_is_too_long_is_no_reply() {
    let error = error_of("read -r line; head -c 70000000 /dev/zero | tr '\\0' x; echo; sleep 600");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.ends_with("wrote a line of more than 67108864 bytes"), "{}", error.message);
}

#[test]
fn a_process_that_is_late_is_ended_with_its_children() {
    let directory = tempfile::tempdir().expect("directory");
    let memory = MemoryContext::with_timeout(Duration::from_secs(2));
    let script = "sleep 600 & echo $! > child; while read -r line; do wait; done";
    let start = Instant::now();
    let error = ask(&memory, shell(script, directory.path())).error.expect("the row fails");
    assert_eq!(error.kind, RowErrorKind::Timeout);
    assert!(error.message.ends_with("within 2 s"), "{}", error.message);
    // Far below the 600 s that the child would take.
    assert!(start.elapsed() < Duration::from_secs(60));
    let child = lines(&directory.path().join("child")).remove(0);
    // An orphan is reaped by init, which may take a moment or, in some containers, never happen: gone or a zombie.
    let state = format!("ps -o stat= -p {child} 2>/dev/null | grep -v Z");
    let alive = (0..50).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::process::Command::new("sh").args(["-c", &state]).output().is_ok_and(|output| output.status.success())
    });
    assert!(!alive, "the child is still there");
}

#[test]
fn a_process_that_does_not_read_blocks_nobody() {
    let memory = MemoryContext::with_timeout(Duration::from_millis(500));
    // More than a pipe holds.
    let question = "why ".repeat(100_000);
    let transport = shell("sleep 600", Path::new("."));
    let (outputs, failed) = run(&memory, &retrieve(&memory, transport, &[("q1", &question)]));
    let results: Results = memory.read(&outputs["results"]);
    let error = results.rows[0].error.as_ref().expect("the row fails");
    assert_eq!((failed, error.kind), (1, RowErrorKind::Timeout));
}

#[test]
fn a_crash_spoils_only_its_own_case() {
    let directory = tempfile::tempdir().expect("directory");
    let script = r#"while read -r line; do case "$line" in *crash*) exit 9;; *) echo "$REPLY_LINE";; esac; done"#;
    let memory = MemoryContext::default();
    let cases = [("q1", "When?"), ("q2", "crash"), ("q3", "Where?"), ("q4", "Who?"), ("q5", "What?"), ("q6", "Why?")];
    let (outputs, failed) = run(&memory, &retrieve(&memory, shell(script, directory.path()), &cases));
    assert_eq!(failed, 1);
    let results: Results = memory.read(&outputs["results"]);
    let error = results.rows[1].error.as_ref().expect("the row fails");
    assert_eq!(error.kind, RowErrorKind::Process);
}

#[test]
fn a_system_may_refuse_a_query_and_go_on() {
    let directory = tempfile::tempdir().expect("directory");
    let script = r#"echo x >> started; while read -r line; do case "$line" in *long*) echo '{"error":"too long"}';; *) echo "$REPLY_LINE";; esac; done"#;
    let memory = MemoryContext::default();
    let transport = shell(script, directory.path());
    let (outputs, failed) = run(&memory, &retrieve(&memory, transport, &[("q1", "a long one"), ("q2", "When?")]));
    assert_eq!(failed, 1);
    let results: Results = memory.read(&outputs["results"]);
    let error = results.rows[0].error.as_ref().expect("the row fails");
    assert_eq!((error.kind, error.message.as_str()), (RowErrorKind::Refused, "the system says: too long"));
}
