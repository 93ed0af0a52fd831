//! An OpenAI-compatible server that replies as a function says, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// A server that lives as long as the process. Each connection has a thread of its own and one request.
pub struct ChatServer {
    /// Up to and with `/v1`.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl ChatServer {
    /// Replies to each request with what `reply` makes of its body.
    pub fn start(reply: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (seen, reply) = (requests.clone(), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), seen, reply) = (stream, seen.clone(), reply.clone()) else { return };
                thread::spawn(move || serve(stream, &seen, &*reply));
            }
        });
        ChatServer { url, requests }
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Replies to one request; one that the client gives up on is not counted.
fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Value>>, reply: &dyn Fn(&str) -> String) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().expect("a length");
            }
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let body = String::from_utf8(body).expect("text");
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(serde_json::from_str(&body).expect("JSON"));
    let message = json!({"role": "assistant", "content": reply(&body)});
    let document = json!({
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        document.len()
    );
    let _ = stream.write_all((head + &document).as_bytes());
}
