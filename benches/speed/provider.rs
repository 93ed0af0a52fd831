//! A scripted system under test that takes 50 ms, asked eight times at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::benchmark;
use crate::figure::{Figure, Target};
use crate::space::Space;

const CASES: usize = 400;
const CONCURRENCY: usize = 8;
const LATENCY: Duration = Duration::from_millis(50);

const REPLY: &str = r#"{"results": [{"id": "p1", "text": "a passage", "score": 1.0}], "answer": "a passage"}"#;

/// Queries that were answered; two cases that ask the same are one query.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);

/// Starts the system on a free port and gives its address. Every connection has a thread of its own, so that the system
/// never is what is waited for beyond its latency; a server with a pool of threads may let a kept connection starve another.
fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/query", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A connection that breaks is opened again by its client.
            std::thread::spawn(move || drop(serve(connection)));
        }
    });
    url
}

/// Answers the requests of one connection until it is closed.
fn serve(mut connection: TcpStream) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut requests = BufReader::new(connection.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if requests.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut requests.by_ref().take(length), &mut std::io::sink())?;
        std::thread::sleep(LATENCY);
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", REPLY.len());
        ANSWERED.fetch_add(1, Ordering::Relaxed);
        connection.write_all(format!("{head}\r\n\r\n{REPLY}").as_bytes())?;
    }
}

/// Measures how near the throughput comes to `concurrency / latency`.
pub fn figures() -> Vec<Figure> {
    let url = start();
    let evaluation = format!(
        "recipe:\n  name: system\n  system: {{http: \"{url}\", version: \"1\"}}\n\
         queries:\n  - {{mode: any, name: any, top_k: 10}}\n\
         evaluators: [answer_contains]\n\
         limits: {{queries: {{concurrency: {CONCURRENCY}}}}}\n"
    );
    let space = Space::new(&benchmark::corpus(1_000, CASES), &evaluation);
    let (all, asked) = space.actions("run --quiet", "retrieve");
    let answered = ANSWERED.load(Ordering::Relaxed) as f64;
    let ideal_ms = LATENCY.as_secs_f64() * 1e3 * answered / CONCURRENCY as f64;
    let share = |elapsed_ms: f64| ideal_ms / elapsed_ms * 100.0;
    vec![
        Figure::new("400 cases at 50 ms, 8 at once: throughput of the ideal", share(asked.iter().sum()), "%")
            .target(Target::AtLeast(95.0)),
        Figure::new("the same over the whole process, scores and report too", share(all.as_secs_f64() * 1e3), "%"),
    ]
}
