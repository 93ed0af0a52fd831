//! Systems under test over both transports, asked through the `retrieve` action.

mod command;
mod http;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{Json, Results, Retrieved};
use ragstage_stages::query::system::Mapping;
use ragstage_stages::query::{HttpUrls, ModeSpec, Retrieve, SystemSpec, Transport};
use serde_json::json;

use crate::harbour::{queries, run};
use crate::memory::MemoryContext;

/// What the systems of these tests reply when all is well.
const REPLY: &str = r#"{"results":[{"id":"p1","text":"Built in 1871.","score":2.5,"source":{"document_id":"light"}}],"answer":"In 1871."}"#;

fn options() -> Json {
    match json!({"rerank": true}) {
        serde_json::Value::Object(object) => object,
        _ => Json::new(),
    }
}

fn retrieve(memory: &MemoryContext, transport: Transport, cases: &[(&str, &str)]) -> Retrieve {
    let (queries, unit) = queries(cases);
    let system = SystemSpec {
        name: "rag".to_string(),
        version: "v1".to_string(),
        files: Vec::new(),
        mapping: Mapping::default(),
        ingest_batch: None,
        openviking: None,
        transport,
    };
    let documents_digest = unit.documents_digest;
    let (mode, external) = ("hybrid".to_string(), None);
    let mode = ModeSpec::System { system: system.into(), mode, options: options(), documents_digest, external };
    Retrieve { mode, queries: memory.put(&queries), unit, top_k: 3, salt: 0 }
}

/// Asks one question.
fn ask(memory: &MemoryContext, transport: Transport) -> Retrieved {
    let (outputs, failed) = run(memory, &retrieve(memory, transport, &[("q1", "When?")]));
    let mut results: Results = memory.read(&outputs["results"]);
    let row = results.rows.remove(0);
    assert_eq!(failed, u64::from(row.error.is_some()));
    row
}

#[test]
fn how_a_system_is_reached_is_in_no_key() {
    let memory = MemoryContext::default();
    let at = |url: &str, secret: &str| Transport::Http {
        urls: HttpUrls { query: url.to_string(), ..HttpUrls::default() },
        headers: vec![("Authorization".to_string(), secret.to_string())],
        variables: Vec::new(),
    };
    let base = retrieve(&memory, at("http://one/", "a"), &[("q1", "When?")]);
    let key = key_of(&base);
    assert_eq!(key_of(&retrieve(&memory, at("http://two/", "b"), &[("q1", "When?")])), key);
    let ModeSpec::System { system, mode, options, documents_digest, .. } = base.mode.clone() else { panic!("system") };
    let with = |mode| key_of(&Retrieve { mode, ..base.clone() });
    let digest = documents_digest;
    let other = SystemSpec { version: "v2".to_string(), ..(*system).clone() };
    let renamed = SystemSpec { name: "another".to_string(), ..(*system).clone() };
    let file = |name: &str| SystemSpec { files: vec![(name.to_string(), Digest::of(b"code"))], ..(*system).clone() };
    let (files, moved) = (file("app.py"), file("src/app.py"));
    let spec = |system: &SystemSpec, mode: &str, options: &Json, documents_digest| ModeSpec::System {
        system: system.clone().into(),
        mode: mode.to_string(),
        options: options.clone(),
        documents_digest,
        external: None,
    };
    assert_eq!(with(spec(&system, &mode, &options, digest)), key);
    assert_ne!(with(spec(&other, &mode, &options, digest)), key);
    assert_ne!(with(spec(&renamed, &mode, &options, digest)), key);
    assert_ne!(with(spec(&files, &mode, &options, digest)), key);
    assert_eq!(with(spec(&moved, &mode, &options, digest)), with(spec(&files, &mode, &options, digest)));
    assert_ne!(with(spec(&system, "vector", &options, digest)), key);
    assert_ne!(with(spec(&system, &mode, &Json::new(), digest)), key);
    assert_ne!(with(spec(&system, &mode, &options, Digest::of(b"other documents"))), key);
}
