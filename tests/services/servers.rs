//! Where the real servers are.

use std::io::Write;
use std::path::PathBuf;

/// A server as its start script describes it.
pub struct Server {
    /// Its URL up to and with `/v1`.
    pub base_url: String,
    /// Its model's name.
    pub model: String,
}

/// The embedding server.
pub fn embeddings() -> Option<Server> {
    server("EMBED_BASE_URL", "EMBED_MODEL")
}

/// The chat model.
pub fn llm() -> Option<Server> {
    server("LLM_BASE_URL", "LLM_MODEL")
}

/// The URL of the OpenViking server.
pub fn openviking() -> Option<String> {
    value("OPENVIKING_URL")
}

/// The folder of a model that runs in process.
pub fn folder(variable: &str) -> Option<String> {
    value(variable)
}

/// A file or folder below `$RAGSTAGE_DATA` (default `../shared/data`).
pub fn data(below: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let path = std::env::var_os("RAGSTAGE_DATA").map_or_else(beside, PathBuf::from).join(below);
    if !path.exists() {
        say(&format!("{} is absent; set RAGSTAGE_DATA", path.display()));
    }
    path.exists().then_some(path)
}

fn server(url: &str, model: &str) -> Option<Server> {
    Some(Server { base_url: value(url)?, model: value(model)? })
}

/// The variable; `None`, said loudly, where it is not set.
fn value(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok().filter(|value| !value.is_empty());
    if found.is_none() {
        say(&format!("{variable} is not set; `make test-services` sets it"));
    }
    found
}

/// Says why a test is skipped. The test harness holds back what `eprintln` prints.
fn say(why: &str) {
    // Nobody reads it if it cannot be written.
    let _ = writeln!(std::io::stderr(), "services: SKIPPED: {why}");
}
