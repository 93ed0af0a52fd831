//! Over HTTP, against a scripted server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use ragstage_stages::artifact::{Answers, Observations, Results, Retrieved};
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::query::{AnswerOptions, AnswerQuestions, HttpUrls, Transport};

use super::{REPLY, ask, retrieve};
use crate::harbour::run;
use crate::memory::MemoryContext;

/// What the server does with a connection.
enum Act {
    /// Writes these bytes and closes.
    Write(String),
    /// Writes these bytes and then nothing for a while.
    Stall(String),
}

/// A server that plays one act per connection, and the requests that it got.
fn server(acts: Vec<Act>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/query?key=in-the-url", listener.local_addr().expect("address"));
    let (got, requests) = channel();
    thread::spawn(move || {
        for act in acts {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let _ = got.send(request(&mut stream));
            match act {
                Act::Write(bytes) => drop(stream.write_all(bytes.as_bytes())),
                Act::Stall(bytes) => {
                    let _ = stream.write_all(bytes.as_bytes());
                    thread::sleep(Duration::from_secs(3));
                }
            }
        }
    });
    (url, requests)
}

/// Reads one request with its body.
fn request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap_or(0);
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let length = text
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next().and_then(|value| value.parse::<usize>().ok()));
        let body = text.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len());
        if count == 0 || length.is_some_and(|length| body >= length && text.contains("\r\n\r\n")) {
            return text;
        }
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
}

fn http(url: &str) -> Transport {
    let headers = vec![("Authorization".to_string(), "Bearer sk-very-secret".to_string())];
    let variables = vec![("RAG_TOKEN".to_string(), "sk-very-secret".to_string())];
    let urls = HttpUrls { query: url.to_string(), ..HttpUrls::default() };
    Transport::Http { urls, headers, variables }
}

fn error_of(act: Act) -> RowError {
    let memory = match act {
        Act::Write(_) => MemoryContext::default(),
        Act::Stall(_) => MemoryContext::with_timeout(Duration::from_millis(700)),
    };
    let (url, _requests) = server(vec![act]);
    let row: Retrieved = ask(&memory, http(&url));
    assert!(row.results.is_empty());
    let error = row.error.expect("the row fails");
    assert!(!error.message.contains("sk-very") && !error.message.contains("in-the-url"), "{}", error.message);
    assert_eq!(error.attempts, 1);
    error
}

fn replied(status: &str, headers: &str, body: &str) -> RowError {
    error_of(Act::Write(response(status, headers, body)))
}

#[test]
fn a_query_is_a_post_of_json() {
    let memory = MemoryContext::default();
    let (url, requests) = server(vec![Act::Write(response("200 OK", "", REPLY))]);
    let row = ask(&memory, http(&url));
    assert_eq!(row.error, None);
    assert_eq!(row.results[0].id, "p1");
    assert_eq!(row.results[0].source["document_id"], "light");
    assert_eq!(row.answer.expect("answer").text.as_deref(), Some("In 1871."));
    let request = requests.recv().expect("request");
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("POST /query?key=in-the-url HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(head.contains("content-type: application/json") && head.contains("bearer sk-very-secret"), "{head}");
    assert_eq!(body, r#"{"query":"When?","mode":"hybrid","top_k":3,"options":{"rerank":true}}"#);
}

#[test]
fn each_status_is_a_kind_of_fault() {
    for (status, kind) in [
        ("400 Bad Request", RowErrorKind::Refused),
        ("404 Not Found", RowErrorKind::Refused),
        ("422 Unprocessable Entity", RowErrorKind::Refused),
        ("302 Found", RowErrorKind::Refused),
        ("401 Unauthorized", RowErrorKind::Auth),
        ("403 Forbidden", RowErrorKind::Auth),
        ("408 Request Timeout", RowErrorKind::Server),
        ("429 Too Many Requests", RowErrorKind::RateLimited),
        ("500 Internal Server Error", RowErrorKind::Server),
        ("503 Service Unavailable", RowErrorKind::Server),
    ] {
        let error = replied(status, "location: /elsewhere\r\n", "the pump is\n broken");
        assert_eq!(error.kind, kind, "{status}: {}", error.message);
        assert!(error.message.contains(&format!("replied {status}: the pump is broken")), "{}", error.message);
        assert_eq!(error.retry_after_s, None);
    }
}

#[test]
fn retry_after_is_kept() {
    assert_eq!(replied("429 Too Many Requests", "retry-after: 7\r\n", "").retry_after_s, Some(7));
    assert_eq!(replied("503 Busy", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "").retry_after_s, Some(0));
}

#[test]
fn what_the_other_side_echoes_is_masked_and_cut() {
    let body = format!("bad token Bearer sk-very-secret {}", "x".repeat(10_000));
    let error = replied("401 Unauthorized", "", &body);
    assert!(error.message.contains("bad token ***"), "{}", error.message);
    assert!(error.message.len() < 500);
    let error = replied("503 Busy", "", &format!("the pump is broken {}", "x".repeat(100_000)));
    assert!(error.message.contains("the pump is broken xxx"), "{}", error.message);
    let error = replied("200 OK", "", "no JSON but sk-very-secret for key=in-the-url");
    assert!(error.message.contains("no JSON but *** for key=***: "), "{}", error.message);
}

#[test]
fn replies_that_break_the_protocol() {
    let error = replied("200 OK", "", r#"{"results":[{"id":"p1"}]}"#);
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert_eq!(error.message, "results[0].text: expected a text, found nothing");
    let error = replied("200 OK", "", r#"{"results":[],"metadata":{"headers":["Bearer sk-very-secret"]}}"#);
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.contains("variable RAG_TOKEN,"), "{}", error.message);
    assert_eq!(replied("204 No Content", "", "").kind, RowErrorKind::BadReply);
    assert_eq!(error_of(Act::Write("SSH-2.0-OpenSSH\r\n\r\n".to_string())).kind, RowErrorKind::BadReply);
}

#[test]
fn connections_that_are_refused_or_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/", listener.local_addr().expect("address"));
    drop(listener);
    let error = ask(&MemoryContext::default(), http(&url)).error.expect("the row fails");
    assert_eq!(error.kind, RowErrorKind::Connection, "{}", error.message);
    for cut in ["", "HTTP/1.1 200 OK\r\ncontent-", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"results\":[]}"] {
        let error = error_of(Act::Write(cut.to_string()));
        assert_eq!(error.kind, RowErrorKind::Connection, "{cut:?}: {}", error.message);
    }
}

#[test]
fn replies_that_are_late() {
    for started in ["", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"results\":"] {
        let error = error_of(Act::Stall(started.to_string()));
        assert_eq!(error.kind, RowErrorKind::Timeout, "{started:?}: {}", error.message);
        assert!(error.message.ends_with("within 0.7 s"), "{}", error.message);
    }
}

#[test]
fn a_failed_case_is_asked_again_and_the_others_are_not() {
    let memory = MemoryContext::default();
    let ok = || Act::Write(response("200 OK", "", REPLY));
    let (url, _requests) = server(vec![ok(), Act::Write(response("500 Oh", "", "")), ok()]);
    // One after the other, so that the script decides who fails.
    let one = retrieve(&memory, http(&url), &[("q1", "When?")]);
    let both = retrieve(&memory, http(&url), &[("q1", "When?"), ("q2", "Where?")]);
    run(&memory, &one);
    let (outputs, failed) = run(&memory, &both);
    assert_eq!((failed, memory.computed()), (1, vec!["q1".to_string(), "q2".to_string()]));

    // The answers of a failed retrieval say so.
    let answer = AnswerQuestions {
        options: AnswerOptions::System,
        results: outputs["results"],
        queries: both.queries,
        unit: both.unit.clone(),
        salt: 0,
    };
    for options in [AnswerOptions::System, AnswerOptions::default()] {
        let (outputs, failed) = run(&memory, &AnswerQuestions { options, ..answer.clone() });
        assert_eq!(failed, 1);
        let answers: Answers = memory.read(&outputs["answers"]);
        assert!(answers.rows[0].text.as_deref().is_some_and(|text| text.contains("1871")));
        let error = answers.rows[1].error.as_ref().expect("upstream");
        assert_eq!((error.kind, error.attempts), (RowErrorKind::Upstream, 0));
        assert!(error.message.starts_with("retrieval failed after 1 attempt: server: "), "{}", error.message);
        let observations: Observations = memory.read(&outputs["observations"]);
        assert_eq!(observations.rows[1].latency_ms, None);
    }
    memory.computed();

    let (outputs, failed) = run(&memory, &both);
    assert_eq!((failed, memory.computed()), (0, vec!["q2".to_string()]));
    let results: Results = memory.read(&outputs["results"]);
    assert!(results.rows.iter().all(|row| row.error.is_none() && row.results.len() == 1));
}

#[test]
fn a_url_that_cannot_be_used_stops_the_stage() {
    use ragstage_stages::contract::Action;
    use ragstage_stages::error::StageErrorKind;
    let memory = MemoryContext::default();
    let error = retrieve(&memory, http("harbour"), &[("q1", "When?")]).run(&memory).expect_err("refused");
    assert!(matches!(error.kind, StageErrorKind::Provider(_)), "{error}");
}
