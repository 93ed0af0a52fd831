//! A scripted system under test behind a URL: it counts what it is asked, answers from a script, and can misbehave in
//! every way that a network allows.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::quiz::reply;
use super::wire::{Message, listen, respond};

/// How long a test waits for what must come before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// One request.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The question.
    pub query: String,
    /// Its number among all requests, from 1.
    pub request: usize,
    /// Its number among the requests with this question, from 1.
    pub attempt: usize,
}

/// What the provider does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers as it should.
    Answer,
    /// Replies with a status, a header (or none) and a body that is a complaint.
    Status(u16, &'static str),
    /// Replies 200 with this body.
    Body(String),
    /// Closes the connection without a word.
    Hang,
    /// Closes the connection in the middle of the body.
    CutBody,
    /// Waits before it answers.
    Stall(Duration),
    /// Waits until [`Provider::release`], then answers.
    Hold,
}

#[derive(Default)]
struct Log {
    counts: BTreeMap<String, usize>,
    requests: usize,
    held: usize,
    released: bool,
}

type Script = Box<dyn Fn(&Asked) -> Act + Send>;

struct Shared {
    script: Mutex<Script>,
    log: Mutex<Log>,
    changed: Condvar,
}

/// The running provider.
pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Provider {
    /// A provider that does what `script` says.
    pub fn new(script: impl Fn(&Asked) -> Act + Send + 'static) -> Self {
        let shared =
            Arc::new(Shared { script: Mutex::new(Box::new(script)), log: Mutex::default(), changed: Condvar::new() });
        let served = shared.clone();
        Provider { address: listen(move |stream| serve(&stream, &served)), shared }
    }

    /// A provider that always answers.
    pub fn healthy() -> Self {
        Provider::new(|_| Act::Answer)
    }

    /// The system of an evaluation that is this provider.
    pub fn system(&self) -> String {
        format!("http: \"http://{}/query\"", self.address)
    }

    /// Goes on with another script; counts begin anew.
    pub fn rescript(&self, script: impl Fn(&Asked) -> Act + Send + 'static) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(script);
        *self.log() = Log::default();
    }

    /// How often each question was asked.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        self.log().counts.clone()
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.log().requests
    }

    /// Waits until so many requests are held.
    pub fn wait_for_held(&self, count: usize) {
        let log = self.log();
        let (log, late) = self
            .shared
            .changed
            .wait_timeout_while(log, PATIENCE, |log| log.held < count)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!late.timed_out(), "{} requests are held, expected {count}", log.held);
    }

    /// Answers what is held, and holds nothing any more.
    pub fn release(&self) {
        self.log().released = true;
        self.shared.changed.notify_all();
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let Some(query) = Message::read(stream).and_then(|message| query_of(&message)) else { return };
    let asked = {
        let mut log = shared.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.requests += 1;
        let request = log.requests;
        let attempt = log.counts.entry(query.clone()).or_default();
        *attempt += 1;
        Asked { query, request, attempt: *attempt }
    };
    let act = (shared.script.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
    let answer = reply(&asked.query);
    match act {
        Act::Answer => respond(stream, 200, "", &answer, answer.len()),
        Act::Status(status, header) => respond(stream, status, header, "\"no lamps today\"", 16),
        Act::Body(body) => respond(stream, 200, "", &body, body.len()),
        Act::Hang => {}
        Act::CutBody => respond(stream, 200, "", &answer[..answer.len() / 2], answer.len()),
        Act::Stall(time) => {
            std::thread::sleep(time);
            respond(stream, 200, "", &answer, answer.len());
        }
        Act::Hold => {
            let mut log = shared.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.held += 1;
            shared.changed.notify_all();
            let held = shared.changed.wait_timeout_while(log, PATIENCE, |log| !log.released);
            drop(held.unwrap_or_else(PoisonError::into_inner));
            respond(stream, 200, "", &answer, answer.len());
        }
    }
}

fn query_of(message: &Message) -> Option<String> {
    let request: serde_json::Value = serde_json::from_slice(&message.body).ok()?;
    request["query"].as_str().map(str::to_string)
}
