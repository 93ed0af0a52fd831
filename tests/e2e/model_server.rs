//! A scripted model server behind `/v1/chat/completions`, `/v1/embeddings` and `/v1/rerank`: it remembers what it is asked,
//! answers by itself or from a script, and can misbehave in every way that a network allows.

// Each test target uses its own part of it.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Message, head, listen, respond};

/// How many numbers a vector has where the request does not say it.
pub const DIMENSIONS: usize = 16;

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `chat/completions`, `embeddings` or `rerank`.
    pub path: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// The JSON that was sent.
    pub body: Value,
    /// Its number among the requests of this path, from 1.
    pub number: usize,
    /// Its number among the requests with this path and body, from 1.
    pub attempt: usize,
}

impl Request {
    /// The texts that are to be embedded.
    pub fn texts(&self) -> Vec<&str> {
        self.body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The last message to a chat model.
    pub fn prompt(&self) -> &str {
        self.body["messages"].as_array().and_then(|list| list.last()?["content"].as_str()).unwrap_or_default()
    }

    /// What the server replies by itself.
    pub fn answer(&self) -> Value {
        match self.path.as_str() {
            "embeddings" => embeddings(self),
            "rerank" => ranking(self),
            _ => chat(&self.words(), self),
        }
    }

    /// The name of the schema that a chat model's reply is to have.
    pub fn schema(&self) -> Option<&str> {
        self.body["response_format"]["json_schema"]["name"].as_str()
    }

    /// What a judge says that finds everything mostly good, in the schema that is asked for: two claims in each text, every
    /// second verdict positive, grade 3, the label `kind`.
    pub fn judgement(&self) -> Value {
        let wanted = || {
            let verdicts = &self.body["response_format"]["json_schema"]["schema"]["properties"]["verdicts"];
            verdicts["minItems"].as_u64().expect("a number of verdicts")
        };
        let verdicts = |on: &str, says: &str| -> Value {
            (1..=wanted()).map(|n| json!({on: n, "reason": "so it is", says: n % 2 == 1})).collect()
        };
        match self.schema() {
            Some("claims") => {
                let text = self.prompt().split_once("\nText:\n").unwrap_or_default().1;
                let line = text.lines().next().unwrap_or_default();
                json!({"claims": [format!("It says: {line}"), "It is old."]})
            }
            Some("claim_verdicts") => json!({"verdicts": verdicts("claim", "supported")}),
            Some("passage_verdicts") => json!({"verdicts": verdicts("passage", "useful")}),
            Some("label") => json!({"reasoning": "so it is", "label": "kind"}),
            _ => {
                let mut grade = json!({"reasoning": "so it is", "score": 3});
                if self.prompt().contains("noncommittal") {
                    grade["noncommittal"] = false.into();
                }
                grade
            }
        }
    }

    /// What a chat model says by itself: something of the schema that is asked for.
    fn words(&self) -> String {
        let line = self.prompt().lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let of_schema = match self.schema() {
            // The last candidate is the best.
            Some("order") => {
                let items = &self.body["response_format"]["json_schema"]["schema"]["properties"]["order"];
                json!({"order": [items["maxItems"]]})
            }
            Some("queries") => json!({"queries": [words(line).join(" ")]}),
            Some("plan") => json!({
                "useful": true, "information": "", "sufficient": false, "next_query": words(line).join(" "),
            }),
            // The first two words of the passage, and that they belong together.
            Some("entities_and_relations") => {
                let names: Vec<String> = words(line).into_iter().take(2).collect();
                let entity = |name: &String| json!({"name": name, "type": "word", "description": ""});
                let relation =
                    |pair: &[String]| json!({"source": pair[0], "target": pair[1], "type": "next", "description": ""});
                json!({"entities": names.iter().map(entity).collect::<Vec<_>>(),
                       "relations": names.windows(2).map(relation).collect::<Vec<_>>()})
            }
            Some("claims" | "claim_verdicts" | "passage_verdicts" | "label" | "grade") => self.judgement(),
            _ => return format!("I was asked: {}", self.prompt()),
        };
        of_schema.to_string()
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers by itself.
    Answer,
    /// Replies with a text of a chat model.
    Say(String),
    /// Replies 200 with this JSON.
    Json(Value),
    /// Replies 200 with these bytes.
    Body(String),
    /// Replies with a status, a header line (or none) and a body.
    Status(u16, &'static str, String),
    /// Closes the connection without a word.
    Hang,
    /// Closes the connection in the middle of the headers.
    CutHead,
    /// Closes the connection in the middle of the body.
    CutBody,
    /// Waits before it answers.
    Stall(Duration),
    /// Answers one byte at a time, with this wait after each.
    Drip(Duration),
}

type Script = Box<dyn Fn(&Request) -> Act + Send>;

struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Request>>,
}

/// The running server.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ModelServer {
    /// A server that does what `script` says.
    pub fn new(script: impl Fn(&Request) -> Act + Send + 'static) -> Self {
        let shared = Arc::new(Shared { script: Mutex::new(Box::new(script)), requests: Mutex::default() });
        let served = shared.clone();
        ModelServer { address: listen(move |stream| serve(&stream, &served)), shared }
    }

    /// A server that always answers.
    pub fn healthy() -> Self {
        ModelServer::new(|_| Act::Answer)
    }

    /// The URL up to and with `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Goes on with another script, and forgets what it was asked.
    pub fn rescript(&self, script: impl Fn(&Request) -> Act + Send + 'static) {
        *lock(&self.shared.script) = Box::new(script);
        lock(&self.shared.requests).clear();
    }

    /// The requests of a path (`embeddings`), in the order in which they came.
    pub fn requests(&self, path: &str) -> Vec<Request> {
        lock(&self.shared.requests).iter().filter(|request| request.path == path).cloned().collect()
    }

    /// How many requests of a path there were.
    pub fn count(&self, path: &str) -> usize {
        self.requests(path).len()
    }

    /// How many requests there were.
    pub fn total(&self) -> usize {
        lock(&self.shared.requests).len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut stream: &TcpStream, shared: &Shared) {
    let Some(message) = Message::read(stream) else { return };
    let path = message.path.trim_start_matches("/v1/").to_string();
    let Ok(body) = serde_json::from_slice::<Value>(&message.body) else {
        let complaint = r#"{"error": {"code": 400, "message": "no JSON"}}"#;
        return respond(stream, 400, "", complaint, complaint.len());
    };
    let request = {
        let mut requests = lock(&shared.requests);
        let of_path = requests.iter().filter(|request| request.path == path);
        let (number, attempt) = of_path
            .fold((1, 1), |(number, attempt), request| (number + 1, attempt + usize::from(request.body == body)));
        let authorization = message.header("authorization").map(str::to_string);
        let request = Request { path, authorization, body, number, attempt };
        requests.push(request.clone());
        request
    };
    let act = (lock(&shared.script))(&request);
    let answer = request.answer().to_string();
    let whole = |body: &str| respond(stream, 200, "", body, body.len());
    match act {
        Act::Answer => whole(&answer),
        Act::Say(text) => whole(&chat(&text, &request).to_string()),
        Act::Json(value) => whole(&value.to_string()),
        Act::Body(body) => whole(&body),
        Act::Status(status, header, body) => respond(stream, status, header, &body, body.len()),
        Act::Hang => {}
        Act::CutHead => drop(stream.write_all(b"HTTP/1.1 200 Scripted\r\nContent-Le")),
        Act::CutBody => respond(stream, 200, "", &answer[..answer.len() / 2], answer.len()),
        Act::Stall(time) => {
            std::thread::sleep(time);
            whole(&answer);
        }
        Act::Drip(time) => {
            for byte in format!("{}{answer}", head(200, "", answer.len())).bytes() {
                // Whoever asked may have gone.
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(time);
            }
        }
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A completion that says `text`; a token is a word.
pub fn chat(text: &str, request: &Request) -> Value {
    let (read, written) = (words(&request.body["messages"].to_string()).len(), words(text).len());
    json!({
        "object": "chat.completion",
        "model": request.body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    })
}

/// The vector of a text: each of its words adds to one number. Texts that share words are near one another.
pub fn vector(text: &str, dimensions: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dimensions];
    for word in words(text) {
        // FNV-1a (Fowler, Noll, Vo).
        let hash = word
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        vector[((hash ^ (hash >> 32)) % dimensions as u64) as usize] += 1.0;
    }
    vector
}

fn embeddings(request: &Request) -> Value {
    let dimensions = request.body["dimensions"].as_u64().map_or(DIMENSIONS, |dimensions| dimensions as usize);
    let texts = request.texts();
    let entry = |(index, text): (usize, &&str)| json!({"object": "embedding", "index": index, "embedding": vector(text, dimensions)});
    let tokens: usize = texts.iter().map(|text| words(text).len()).sum();
    json!({
        "object": "list",
        "model": request.body["model"],
        "data": texts.iter().enumerate().map(entry).collect::<Vec<_>>(),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    })
}

/// The score of a text: the share of the query's words that it has.
fn ranking(request: &Request) -> Value {
    let query: BTreeSet<String> = words(request.body["query"].as_str().unwrap_or_default()).into_iter().collect();
    let score = |text: &Value| {
        let text: BTreeSet<String> = words(text.as_str().unwrap_or_default()).into_iter().collect();
        query.intersection(&text).count() as f64 / query.len().max(1) as f64
    };
    let list = |name: &str, key: &str| -> Vec<Value> {
        let texts = request.body[name].as_array().into_iter().flatten().enumerate();
        let mut results: Vec<Value> = texts.map(|(index, text)| json!({"index": index, key: score(text)})).collect();
        // The best first, as such servers do.
        results.sort_by(|a, b| b[key].as_f64().partial_cmp(&a[key].as_f64()).expect("numbers"));
        results
    };
    match request.body.get("texts") {
        Some(_) => Value::Array(list("texts", "score")),
        None => json!({"results": list("documents", "relevance_score"), "usage": {"total_tokens": 7}}),
    }
}
