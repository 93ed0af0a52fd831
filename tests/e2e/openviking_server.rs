//! An OpenViking server for tests: the part of its API that ragstage uses, in memory, with faults on request. What it replies has
//! the shape of what the real one replied (`fixtures/openviking/recorded.json`).

// Each test target uses its own part of it.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Message, listen, respond};

/// How long a test waits for what must come before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// The calls that have one path.
const CALLS: [&str; 10] = [
    "/health",
    "/api/v1/resources/temp_upload",
    "/api/v1/resources",
    "/api/v1/tasks",
    "/api/v1/search/find",
    "/api/v1/content/read",
    "/api/v1/content/abstract",
    "/api/v1/content/overview",
    "/api/v1/fs/ls",
    "/api/v1/fs",
];
/// The version that it states.
pub const VERSION: &str = "0.5.2";

/// One request, as a script sees it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `health`, `upload`, `add`, `task`, `tasks`, `find`, `read`, `abstract`, `overview`, `ls` or `rm`.
    pub call: &'static str,
    /// Its number among the requests of this kind, from 1.
    pub number: usize,
    /// The name of an uploaded file, the place of an added one, the question, or the URI.
    pub what: String,
}

/// What the server does with a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Act {
    /// What it should.
    #[default]
    Answer,
    /// States an error: status, header line or none, code, details.
    Error(u16, &'static str, &'static str, Value),
    /// Replies with this status and body.
    Body(u16, &'static str),
    /// Closes the connection in the middle of the body.
    CutBody,
    /// Waits before it answers.
    Slow(Duration),
    /// States success with a result whose `status` is `cancelled`.
    Cancelled,
    /// Answers without telemetry.
    NoTelemetry,
    /// Answers with nulls for all fields of the result.
    Nulls,
    /// Begins a task that never ends.
    HungTask,
    /// Begins a task that fails.
    FailedTask,
    /// Waits until the test process ends the server's patience: the caller is killed meanwhile.
    Hold,
}

struct Task {
    id: String,
    uri: String,
    source: String,
    /// Looks until it is done.
    looks: u32,
    files: BTreeMap<String, String>,
    act: Act,
    status: &'static str,
    /// Whether the same texts are there already: nothing is embedded then.
    known: bool,
    left_out: Vec<Value>,
}

#[derive(Default)]
struct State {
    uploads: BTreeMap<String, (String, Vec<u8>)>,
    /// Texts by URI.
    files: BTreeMap<String, String>,
    tasks: Vec<Task>,
    /// Tasks that removed something: URI and how they ended.
    removals: Vec<(String, &'static str)>,
    asked: Vec<Asked>,
    key: Option<String>,
    /// Whether folders have summaries that are found too.
    summaries: bool,
    /// Looks that a task takes.
    looks: u32,
    /// Time that every request takes.
    latency: Duration,
    version: Option<String>,
    adding: usize,
    most_adding: usize,
    /// Adds wait until so many of them are under way.
    gather: usize,
    held: usize,
}

type Script = Box<dyn Fn(&Asked) -> Act + Send>;

struct Shared {
    state: Mutex<State>,
    script: Mutex<Script>,
    changed: Condvar,
}

/// The running server.
pub struct OpenViking {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl OpenViking {
    /// A server that does what it should.
    pub fn new() -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            script: Mutex::new(Box::new(|_| Act::Answer)),
            changed: Condvar::new(),
        });
        let served = shared.clone();
        OpenViking { address: listen(move |stream| serve(&stream, &served)), shared }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Does what `script` says from now on; numbers of requests begin anew.
    pub fn script(&self, script: impl Fn(&Asked) -> Act + Send + 'static) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(script);
        self.state().asked.clear();
    }

    /// Asks for this key from now on.
    pub fn require_key(&self, key: &str) {
        self.state().key = Some(key.to_string());
    }

    /// Finds summaries of folders too.
    pub fn summarize(&self) {
        self.state().summaries = true;
    }

    /// Lets tasks take so many looks before the one that finds them done.
    pub fn tasks_take(&self, looks: u32) {
        self.state().looks = looks;
    }

    /// Lets every request take so long.
    pub fn take_time(&self, latency: Duration) {
        self.state().latency = latency;
    }

    /// States another version.
    pub fn upgrade(&self, version: &str) {
        self.state().version = Some(version.to_string());
    }

    /// Lets adds wait for each other until so many are under way.
    pub fn gather_adds(&self, count: usize) {
        self.state().gather = count;
    }

    /// The most adds that were under way at once.
    pub fn most_adding(&self) -> usize {
        self.state().most_adding
    }

    /// How often each kind of call was made since the last look.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for asked in self.state().asked.drain(..) {
            *counts.entry(asked.call).or_default() += 1;
        }
        counts
    }

    /// What the calls of a kind were about, in order; they stay counted.
    pub fn asked(&self, call: &str) -> Vec<String> {
        self.state().asked.iter().filter(|asked| asked.call == call).map(|asked| asked.what.clone()).collect()
    }

    /// How many tasks were begun, by place.
    pub fn begun(&self) -> BTreeMap<String, usize> {
        let mut begun = BTreeMap::new();
        for task in &self.state().tasks {
            *begun.entry(task.uri.clone()).or_default() += 1;
        }
        begun
    }

    /// All URIs of texts.
    pub fn files(&self) -> Vec<String> {
        self.state().files.keys().cloned().collect()
    }

    /// Puts a text there that is none of ours.
    pub fn put(&self, uri: &str, text: &str) {
        self.state().files.insert(uri.to_string(), text.to_string());
    }

    /// Loses all texts whose URI holds `part`.
    pub fn lose(&self, part: &str) {
        self.state().files.retain(|uri, _| !uri.contains(part));
    }

    /// Waits until so many requests are held.
    pub fn wait_for_held(&self, count: usize) {
        let state = self.state();
        let waited = self.shared.changed.wait_timeout_while(state, PATIENCE, |state| state.held < count);
        let (state, late) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!late.timed_out(), "{} requests are held, expected {count}", state.held);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A status and a body.
type Said = (u16, Value);

fn fault(status: u16, code: &str, message: &str, details: Value) -> Said {
    let error = json!({"code": code, "message": message, "details": details});
    (status, json!({"status": "error", "result": null, "error": error, "telemetry": null, "profile": null}))
}

/// A result as most endpoints wrap it.
fn result(result: Value) -> Said {
    (200, json!({"status": "ok", "result": result, "error": null, "telemetry": null, "profile": null}))
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let Some(message) = Message::read(stream) else { return };
    let (path, query) = message.path.split_once('?').unwrap_or((&message.path, ""));
    let query: BTreeMap<String, String> =
        query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_string(), decoded(v))).collect();
    let body: Value = serde_json::from_slice(&message.body).unwrap_or(Value::Null);
    let uri = query.get("uri").or(query.get("resource_id")).cloned().unwrap_or_default();
    let (call, what) = match (message.method.as_str(), path) {
        ("GET", "/health") => ("health", String::new()),
        ("POST", "/api/v1/resources/temp_upload") => {
            ("upload", multipart(&message).map_or_else(String::new, |(n, _)| n))
        }
        ("POST", "/api/v1/resources") => ("add", body["to"].as_str().unwrap_or_default().to_string()),
        ("GET", "/api/v1/tasks") => ("tasks", uri),
        ("GET", path) if path.starts_with("/api/v1/tasks/") => {
            ("task", path.rsplit('/').next().unwrap_or("").to_string())
        }
        ("POST", "/api/v1/search/find") => ("find", body["query"].as_str().unwrap_or_default().to_string()),
        ("GET", "/api/v1/content/read") => ("read", uri),
        ("GET", "/api/v1/content/abstract") => ("abstract", uri),
        ("GET", "/api/v1/content/overview") => ("overview", uri),
        ("GET", "/api/v1/fs/ls") => ("ls", uri),
        ("DELETE", "/api/v1/fs") => ("rm", uri),
        (_, path) => {
            let (status, code, message) = match CALLS.contains(&path) {
                true => (405, "UNKNOWN", "Method Not Allowed"),
                false => (404, "NOT_FOUND", "Not Found"),
            };
            let body = json!({"status": "error", "error": {"code": code, "message": message}});
            return say(stream, status, "", &body.to_string(), false);
        }
    };
    let (asked, latency) = {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.asked.iter().filter(|asked| asked.call == call).count() + 1;
        let asked = Asked { call, number, what };
        state.asked.push(asked.clone());
        (asked, state.latency)
    };
    std::thread::sleep(latency);
    let act = (shared.script.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
    match &act {
        Act::Error(status, header, code, details) => {
            let (_, body) = fault(*status, code, "as the script says", details.clone());
            return say(stream, *status, header, &body.to_string(), false);
        }
        Act::Body(status, body) => return say(stream, *status, "", body, false),
        Act::Slow(time) => std::thread::sleep(*time),
        Act::Hold => {
            let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.held += 1;
            shared.changed.notify_all();
            drop(state);
            std::thread::sleep(PATIENCE);
            return;
        }
        _ => {}
    }
    let key = shared.state.lock().unwrap_or_else(PoisonError::into_inner).key.clone();
    let given = message.header("x-api-key");
    let (status, mut body) = match (call, given) {
        (call, given) if call != "health" && key.is_some() && given != key.as_deref() => {
            let why = if given.is_some() { "Invalid API key" } else { "Missing API Key when resolving identity." };
            fault(401, "UNAUTHENTICATED", why, json!({}))
        }
        ("add", _) => add(shared, &body, &act),
        _ => {
            let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.reply(call, &message, &body, &query)
        }
    };
    match act {
        Act::NoTelemetry => {
            strip_telemetry(&mut body);
        }
        Act::Cancelled => body["result"]["status"] = "cancelled".into(),
        Act::Nulls => nulls(&mut body["result"]),
        _ => {}
    }
    say(stream, status, "", &body.to_string(), act == Act::CutBody);
}

fn say(stream: &TcpStream, status: u16, header: &str, body: &str, cut: bool) {
    let shown = if cut { &body[..body.len() / 2] } else { body };
    respond(stream, status, header, shown, body.len());
}

fn strip_telemetry(body: &mut Value) {
    match body {
        Value::Object(fields) => {
            fields.remove("telemetry");
            fields.values_mut().for_each(strip_telemetry);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_telemetry),
        _ => {}
    }
}

fn nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(nulls),
        Value::Array(items) => items.iter_mut().for_each(nulls),
        other => *other = Value::Null,
    }
}

/// An add, which counts among those under way as long as it is one.
fn add(shared: &Shared, body: &Value, act: &Act) -> Said {
    let lock = || shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = lock();
    state.adding += 1;
    state.most_adding = state.most_adding.max(state.adding);
    shared.changed.notify_all();
    let waited = shared.changed.wait_timeout_while(state, PATIENCE, |state| state.most_adding < state.gather);
    let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    let said = state.add(body, act);
    state.adding -= 1;
    said
}

impl State {
    fn reply(&mut self, call: &str, message: &Message, body: &Value, query: &BTreeMap<String, String>) -> Said {
        let uri = query.get("uri").cloned().unwrap_or_default();
        let uri = uri.trim_end_matches('/');
        match call {
            "health" => {
                let version = self.version.clone().unwrap_or_else(|| VERSION.to_string());
                let mode = if self.key.is_some() { "api_key" } else { "dev" };
                (200, json!({"status": "ok", "healthy": true, "version": version, "auth_mode": mode}))
            }
            "upload" => {
                let Some((name, bytes)) = multipart(message) else {
                    return invalid("body.file", "Field required", "missing");
                };
                let extension = name.rsplit_once('.').map(|(_, extension)| format!(".{extension}")).unwrap_or_default();
                let id = format!("upload_{:032x}{extension}", self.uploads.len() + 1);
                self.uploads.insert(id.clone(), (name, bytes));
                (200, json!({"status": "ok", "result": {"temp_file_id": id}}))
            }
            "task" => {
                let id = message.path.rsplit('/').next().unwrap_or_default();
                match self.tasks.iter().position(|task| task.id == id) {
                    Some(at) => result(self.look(at)),
                    None => {
                        fault(404, "NOT_FOUND", "Task not found or expired", json!({"resource": id, "type": "task"}))
                    }
                }
            }
            "tasks" => {
                let of = query.get("resource_id").cloned().unwrap_or_default();
                let found = self.tasks.iter().rev().filter(|task| task.uri == of).map(Task::json);
                let removals = self.removals.iter().rev().filter(|(uri, _)| *uri == of).map(removal);
                result(removals.chain(found).collect::<Vec<_>>().into())
            }
            "find" => self.find(body),
            "read" => self.read(uri, query),
            "abstract" | "overview" => {
                // Of a file it is that of its folder.
                let folder = if self.is_file(uri) { folder_of(uri) } else { uri.to_string() };
                if self.entries(&folder).is_empty() {
                    let details = json!({"type": "resource", "resource": uri});
                    return fault(404, "NOT_FOUND", &format!("Resource not found: {uri}"), details);
                }
                let text = if call == "abstract" { abstract_of(&folder) } else { format!("# overview of {folder}") };
                result(text.into())
            }
            "ls" => self.ls(uri, query),
            "rm" => self.rm(uri, query),
            _ => fault(500, "INTERNAL", "unknown call", json!({})),
        }
    }

    /// Whether there is a text at `uri`, a summary included.
    fn is_file(&self, uri: &str) -> bool {
        self.files.contains_key(uri) || uri.ends_with("/.overview.md") || uri.ends_with("/.abstract.md")
    }

    fn read(&self, uri: &str, query: &BTreeMap<String, String>) -> Said {
        let Some(text) = self.files.get(uri) else {
            if self.entries(uri).is_empty() {
                let details = json!({"type": "file", "resource": uri});
                return fault(404, "NOT_FOUND", &format!("File not found: {uri}"), details);
            }
            let details = json!({"resource": uri, "expected": "file", "actual": "directory"});
            let message =
                format!("Directory URI is not readable as a file: {uri}. List it first, then read a file URI.");
            return fault(400, "INVALID_ARGUMENT", &message, details);
        };
        let number = |name: &str| query.get(name).and_then(|value| value.parse::<i64>().ok());
        let offset = number("offset").unwrap_or(0).max(0) as usize;
        let limit = number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        result(text.split_inclusive('\n').skip(offset).take(limit).collect::<String>().into())
    }

    fn ls(&self, uri: &str, query: &BTreeMap<String, String>) -> Said {
        if self.files.contains_key(uri) {
            return fault(400, "INVALID_ARGUMENT", &format!("not a directory: {uri}"), json!({"resource": uri}));
        }
        let mut entries = self.entries(uri);
        if entries.is_empty() && uri != "viking://resources" {
            let details = json!({"type": "directory", "resource": uri});
            return fault(404, "NOT_FOUND", &format!("Directory not found: {uri}"), details);
        }
        if query.get("recursive").map(String::as_str) != Some("true") {
            entries.retain(|entry| folder_of(entry) == uri);
        }
        let (_, mut body) = result(json!(entries));
        body["has_more"] = false.into();
        (200, body)
    }

    /// Removes a file, or a folder where that is asked for. What is absent is removed too. Each of it is a task.
    fn rm(&mut self, uri: &str, query: &BTreeMap<String, String>) -> Said {
        let folder = !self.entries(uri).is_empty();
        if folder && query.get("recursive").map(String::as_str) != Some("true") {
            let message = format!("Cannot remove directory without --recursive: {uri}");
            return fault(400, "INVALID_ARGUMENT", &message, json!({"resource": uri, "expected_flag": "recursive"}));
        }
        if self.tasks.iter().any(|task| task.uri == uri && task.status == "running") {
            self.removals.push((uri.to_string(), "failed"));
            let details = json!({"resource": uri, "uri": uri, "conflict_type": "path_busy", "retryable": true});
            return fault(409, "CONFLICT", &format!("Resource is being processed: {uri}"), details);
        }
        self.removals.push((uri.to_string(), "completed"));
        let below = format!("{uri}/");
        let before = self.files.len();
        self.files.retain(|file, _| file != uri && !file.starts_with(&below));
        result(json!({
            "uri": uri, "estimated_deleted_count": before - self.files.len(),
            "memory_cleanup": {"status": "no_references", "memory_uris": []},
            "semantic_root_uri": folder_of(uri), "semantic_status": "queued", "task_id": format!("rm-{}", self.removals.len()),
        }))
    }

    /// Files and folders below `uri`.
    fn entries(&self, uri: &str) -> BTreeSet<String> {
        let below = format!("{uri}/");
        let mut entries = BTreeSet::new();
        for file in self.files.keys().filter(|file| file.starts_with(&below)) {
            let mut entry = file.as_str();
            while entry.len() > below.len() {
                entries.insert(entry.to_string());
                entry = entry.rsplit_once('/').map_or("", |(parent, _)| parent);
            }
        }
        entries
    }

    fn add(&mut self, body: &Value, act: &Act) -> Said {
        const KNOWN: [&str; 7] =
            ["temp_file_id", "source_name", "to", "wait", "telemetry", "processing_mode", "parent"];
        if let Some(field) = unknown(body, &KNOWN) {
            return extra(&field);
        }
        let Some(id) = body["temp_file_id"].as_str() else {
            return invalid("body", "Value error, Either 'path' or 'temp_file_id' must be provided", "value_error");
        };
        const MODES: [&str; 2] = ["semantic_and_vectors", "vectors_only"];
        if body["processing_mode"].as_str().is_some_and(|mode| !MODES.contains(&mode)) {
            let why = "Input should be 'semantic_and_vectors' or 'vectors_only'";
            return invalid("body.processing_mode", why, "literal_error");
        }
        let Some((name, bytes)) = self.uploads.get(id).cloned() else {
            let message = "HTTP server only accepts regular files from the upload temp directory.";
            return fault(403, "PERMISSION_DENIED", message, json!({}));
        };
        let source = body["source_name"].as_str().unwrap_or(&name).to_string();
        let stem = source.rsplit_once('.').map_or(source.as_str(), |(stem, _)| stem).to_string();
        let uri = body["to"].as_str().map_or_else(|| format!("viking://resources/{}", named(&stem)), str::to_string);
        if self.tasks.iter().any(|task| task.uri == uri && task.status == "running") {
            let details = json!({"resource": null, "uri": null, "conflict_type": "path_busy", "retryable": true});
            return fault(409, "CONFLICT", "lock acquire timed out after 0ms", details);
        }
        let (mut files, mut left_out) = (BTreeMap::new(), Vec::new());
        if name.ends_with(".zip") {
            let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip archive");
            for at in 0..zip.len() {
                let mut file = zip.by_index(at).expect("a file");
                let path = file.name().expect("a name").to_string();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).expect("its bytes");
                let (place, extension) = path.rsplit_once('.').expect("a name with an extension");
                let stem = place.rsplit('/').next().expect("a name");
                match extension {
                    "md" | "txt" | "pdf" => {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        files.insert(format!("{uri}/{place}/{stem}.md"), text);
                    }
                    _ => left_out.push(json!({"path": path, "status": "unsupported", "reason": "unsupported"})),
                }
            }
        } else {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if text.trim().is_empty() {
                return fault(400, "INVALID_ARGUMENT", "is empty or contains only whitespace", json!({}));
            }
            files.insert(format!("{uri}/{}.md", named(&stem)), text);
        }
        let id = format!("task-{}", self.tasks.len() + 1);
        let known = files.iter().all(|(uri, text)| self.files.get(uri) == Some(text));
        let task = Task {
            known,
            id: id.clone(),
            uri: uri.clone(),
            source: source.clone(),
            looks: self.looks,
            files,
            act: act.clone(),
            status: "running",
            left_out,
        };
        self.tasks.push(task);
        let telemetry = body["telemetry"] == true;
        let mut reply = match body["wait"] == true {
            true => {
                let at = self.tasks.len() - 1;
                self.tasks[at].looks = 0;
                let state = self.look(at);
                if state["status"] == "failed" {
                    return fault(500, "PROCESSING_ERROR", state["error"].as_str().unwrap_or_default(), json!({}));
                }
                json!({"status": "ok", "result": state["result"]})
            }
            false => json!({"status": "ok", "result": {
                "status": "success", "task_id": id, "source_path": source, "root_uri": uri,
            }}),
        };
        if telemetry {
            reply["telemetry"] = json!({"id": "tm_1", "summary": {
                "operation": "resources.add_resource", "status": "ok", "duration_ms": 1.5,
            }});
        }
        (200, reply)
    }

    /// A look at a task, which takes it one step further.
    fn look(&mut self, at: usize) -> Value {
        let task = &mut self.tasks[at];
        if task.status == "running" && task.act != Act::HungTask {
            if task.looks > 0 {
                task.looks -= 1;
            } else if task.act == Act::FailedTask {
                task.status = "failed";
            } else {
                task.status = "completed";
                self.files.extend(task.files.clone());
            }
        }
        self.tasks[at].json()
    }

    fn find(&self, body: &Value) -> Said {
        const KNOWN: [&str; 6] = ["query", "target_uri", "limit", "telemetry", "score_threshold", "level"];
        if let Some(field) = unknown(body, &KNOWN) {
            return extra(&field);
        }
        let words = |text: &str| -> BTreeSet<String> {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let asked = words(body["query"].as_str().unwrap_or_default());
        if body["query"].as_str().is_none_or(|query| query.trim().is_empty()) {
            let why = "Search query or image_url must not be empty unless a filter is provided.";
            return fault(400, "INVALID_ARGUMENT", why, json!({}));
        }
        if body["limit"] == 0 {
            return invalid("body.limit", "Input should be greater than or equal to 1", "greater_than_equal");
        }
        let below = format!("{}/", body["target_uri"].as_str().unwrap_or("viking://resources"));
        let mut found = Vec::new();
        for (uri, text) in self.files.iter().filter(|(uri, _)| uri.starts_with(&below)) {
            let overlap = asked.intersection(&words(text)).count();
            let score = overlap as f64 / asked.len().max(1) as f64;
            found.push((score, uri.clone(), 2, String::new()));
            if self.summaries {
                let folder = folder_of(uri);
                found.push((score - 0.001, format!("{folder}/.overview.md"), 1, abstract_of(&folder)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let levels = match &body["level"] {
            Value::Array(levels) => levels.clone(),
            Value::Null => vec![json!(0), json!(1), json!(2)],
            level => vec![level.clone()],
        };
        let threshold = body["score_threshold"].as_f64().unwrap_or(f64::MIN);
        found.retain(|(score, _, level, _)| *score >= threshold && levels.contains(&json!(level)));
        found.truncate(body["limit"].as_u64().unwrap_or(10) as usize);
        let resources: Vec<Value> = found
            .into_iter()
            .map(|(score, uri, level, summary)| {
                json!({"context_type": "resource", "uri": uri, "level": level, "score": score, "abstract": summary, "tags": []})
            })
            .collect();
        let total = resources.len();
        let mut reply = json!({"status": "ok", "result": {
            "memories": [], "resources": resources, "skills": [], "total": total,
        }});
        if body["telemetry"] == true {
            let tokens = asked.len();
            reply["telemetry"] = json!({"id": "tm_2", "summary": {
                "operation": "search.find", "status": "ok", "duration_ms": 2.5,
                "tokens": {"total": tokens, "embedding": {"total": tokens}},
            }});
        }
        (200, reply)
    }
}

impl Task {
    fn json(&self) -> Value {
        let error = (self.status == "failed").then_some("Directory import incomplete: 1 file(s) failed to parse");
        let outcome = (self.status == "completed").then(|| {
            let tokens: usize = self.files.values().map(|text| text.split_whitespace().count()).sum();
            let files = json!({"Embedding": {"processed": self.files.len(), "requeue_count": 0, "error_count": 0, "errors": []}});
            let mut outcome = json!({
                "status": "success", "errors": [], "source_path": self.source, "root_uri": self.uri, "temp_uri": "viking://temp/1",
                "meta": {"unsupported_files": self.left_out}, "queue_status": files, "context_count": self.files.len(),
                "telemetry": {"id": "tm_1", "summary": {
                    "operation": "add_resource_job", "status": "ok", "duration_ms": 3.5,
                    "tokens": {"total": tokens, "embedding": {"total": tokens}},
                }},
            });
            if self.known {
                outcome["queue_status"]["Embedding"]["processed"] = 0.into();
                outcome["context_count"] = 0.into();
                outcome["telemetry"]["summary"].as_object_mut().expect("a summary").remove("tokens");
            }
            match self.act {
                Act::Cancelled => outcome["status"] = "cancelled".into(),
                Act::NoTelemetry => strip_telemetry(&mut outcome),
                _ => {}
            }
            outcome
        });
        json!({
            "task_id": self.id, "task_type": "add_resource", "status": self.status, "created_at": 1.5, "updated_at": 2.5,
            "processing_seconds": 1.0, "resource_id": self.uri, "meta": {"source_path": self.source}, "stage": self.status,
            "result": outcome, "error": error, "created_at_iso": "2026-01-01T00:00:00+00:00",
            "updated_at_iso": "2026-01-01T00:00:01+00:00",
        })
    }
}

fn folder_of(uri: &str) -> String {
    uri.rsplit_once('/').map_or(uri, |(folder, _)| folder).to_string()
}

/// A name as it stands in URIs.
fn named(stem: &str) -> String {
    stem.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

/// The task that removed something.
fn removal((uri, status): &(String, &'static str)) -> Value {
    let error = (*status == "failed").then(|| format!("Resource is being processed: {uri}"));
    json!({
        "task_id": format!("rm of {uri}"), "task_type": "fs_rm", "status": status, "created_at": 1.5, "updated_at": 2.5,
        "processing_seconds": 1.0, "resource_id": uri, "meta": {}, "stage": status, "result": null, "error": error,
        "created_at_iso": "2026-01-01T00:00:00+00:00", "updated_at_iso": "2026-01-01T00:00:01+00:00",
    })
}

fn abstract_of(uri: &str) -> String {
    format!("abstract of {uri}")
}

/// The first field of `body` that is not `known`.
fn unknown(body: &Value, known: &[&str]) -> Option<String> {
    body.as_object()?.keys().find(|field| !known.contains(&field.as_str())).cloned()
}

fn extra(field: &str) -> Said {
    invalid(&format!("body.{field}"), "Extra inputs are not permitted", "extra_forbidden")
}

/// Of a request that is not of the right form, at a place like `body.limit`.
fn invalid(at: &str, why: &str, kind: &str) -> Said {
    let places: Vec<&str> = at.split('.').collect();
    let details = json!({"validation_errors": [{"loc": places, "message": why, "type": kind}]});
    let message = format!("Invalid request parameters: {at}: {why}");
    (400, json!({"status": "error", "error": {"code": "INVALID_ARGUMENT", "message": message, "details": details}}))
}

/// Name and bytes of the file in a multipart body.
fn multipart(message: &Message) -> Option<(String, Vec<u8>)> {
    let boundary = message.header("content-type")?.split_once("boundary=")?.1.to_string();
    let body = &message.body;
    let find = |needle: &[u8], from: usize| {
        body.get(from..)?.windows(needle.len()).position(|window| window == needle).map(|at| at + from)
    };
    let start = find(b"\r\n\r\n", 0)?;
    let head = String::from_utf8_lossy(&body[..start]).into_owned();
    let name = head.split_once("filename=\"")?.1.split('"').next()?.to_string();
    let end = find(format!("\r\n--{boundary}").as_bytes(), start)?;
    Some((name, body[start + 4..end].to_vec()))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let hex: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&hex, 16).unwrap_or(b'?'));
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
