//! A scripted system under test that takes 50 ms, asked eight times at once.

use std::sync::Arc;
use std::time::Duration;

use crate::benchmark;
use crate::figure::{Figure, Target};
use crate::space::Space;

const CASES: usize = 400;
const CONCURRENCY: usize = 8;
const LATENCY: Duration = Duration::from_millis(50);

const REPLY: &str = r#"{"results": [{"id": "p1", "text": "a passage", "score": 1.0}], "answer": "a passage"}"#;

/// Starts the system on a free port and gives its address. It has threads to spare, so that it never is what is waited for.
fn start() -> String {
    let server = Arc::new(tiny_http::Server::http("127.0.0.1:0").expect("a free port"));
    let url = format!("http://{}/query", server.server_addr());
    for _ in 0..4 * CONCURRENCY {
        let server = server.clone();
        std::thread::spawn(move || {
            while let Ok(mut request) = server.recv() {
                let mut body = String::new();
                let _ = request.as_reader().read_to_string(&mut body);
                std::thread::sleep(LATENCY);
                let _ = request.respond(tiny_http::Response::from_string(REPLY));
            }
        });
    }
    url
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
    let space = Space::new(&benchmark::corpus(10, CASES), &evaluation);
    let (all, asked) = space.actions("run --quiet", "retrieve");
    let ideal_ms = LATENCY.as_secs_f64() * 1e3 * CASES as f64 / CONCURRENCY as f64;
    let share = |elapsed_ms: f64| ideal_ms / elapsed_ms * 100.0;
    vec![
        Figure::new("400 cases at 50 ms, 8 at once: throughput of the ideal", share(asked.iter().sum()), "%")
            .target(Target::AtLeast(95.0)),
        Figure::new("the same over the whole process, scores and report too", share(all.as_secs_f64() * 1e3), "%"),
    ]
}
