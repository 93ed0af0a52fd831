//! What a server does wrong, whichever model it serves: its class, its words, and no secret.

use std::time::Duration;

use ragstage_stages::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::model::{
    ChatRequest, EmbedderSpec, RerankApi, RerankRequest, TextRole, ask_chat, embed_texts, rerank,
};
use ragstage_stages::step::Step;
use serde_json::json;

use super::models::{KEY, chat_model, embedder, reranker};
use crate::memory::MemoryContext;
use crate::model_server::{Act, ModelServer};

/// What becomes of a chat request, of a text to embed and of a query with candidates.
fn outcomes(server: &ModelServer, timeout: Duration) -> [(&'static str, Result<(), RowError>); 3] {
    let memory = MemoryContext::with_timeout(timeout);
    let request = [("a".to_string(), ChatRequest::new(None, "Which lamp?", 48))];
    let chat = ask_chat(&memory, Step::Answer, &chat_model(server), &request, &|_, _| Ok(())).expect("rows").remove(0);
    let spec = EmbedderSpec::OpenAi(embedder(server, 8));
    let embedded =
        embed_texts(&memory, Step::Embed, &spec, TextRole::Query, &[("a", "a lamp")], None).expect("rows").remove(0);
    let request = [("a".to_string(), RerankRequest { query: "lamp".into(), texts: vec!["a lamp".into()] })];
    let ranked =
        rerank(&memory, Step::Retrieve, &reranker(server, RerankApi::Cohere, 8), &request).expect("rows").remove(0);
    [("chat", chat.map(|_| ())), ("embeddings", embedded.map(|_| ())), ("rerank", ranked.map(|_| ()))]
}

fn errors(act: Act) -> Vec<(&'static str, RowError)> {
    let server = ModelServer::new(move |_| act.clone());
    let named = outcomes(&server, Duration::from_millis(500));
    named
        .into_iter()
        .map(|(name, outcome)| {
            let error = outcome.expect_err(name);
            assert!(!error.message.contains(KEY) && !error.message.contains("very-secret"), "{}", error.message);
            (name, error)
        })
        .collect()
}

#[test]
fn each_fault_has_its_class_and_the_servers_words() {
    let status = |status: u16, words: &str| Act::Status(status, "", words.to_string());
    let too_long = r#"{"error": {"code": 400, "type": "exceed_context_size_error", "message": "5031 tokens of 4096"}}"#;
    for (act, kind, words) in [
        (status(400, too_long), RowErrorKind::Refused, "5031 tokens of 4096"),
        (status(404, "no such model"), RowErrorKind::Refused, "404 Not Found: no such model"),
        (status(302, ""), RowErrorKind::Refused, "302"),
        (status(401, "bad key"), RowErrorKind::Auth, "bad key"),
        (status(403, "not yours"), RowErrorKind::Auth, "not yours"),
        (status(408, "too slow"), RowErrorKind::Server, "too slow"),
        (status(429, "slowly"), RowErrorKind::RateLimited, "slowly"),
        (status(500, "input (802 tokens) is too large"), RowErrorKind::Server, "input (802 tokens) is too large"),
        (status(503, "loading"), RowErrorKind::Server, "loading"),
        (Act::Hang, RowErrorKind::Connection, "no connection"),
        (Act::CutHead, RowErrorKind::Connection, "no connection"),
        (Act::CutBody, RowErrorKind::Connection, "no connection"),
        (Act::Stall(Duration::from_secs(2)), RowErrorKind::Timeout, "within 0.5 s"),
        (Act::Drip(Duration::from_millis(20)), RowErrorKind::Timeout, "within 0.5 s"),
        (Act::Body("<html>gateway</html>".into()), RowErrorKind::BadReply, "found <html>gateway</html>"),
        (Act::Body("{\"choices\": [{\"mess".into()), RowErrorKind::BadReply, "expected one JSON object"),
        (Act::Body(String::new()), RowErrorKind::BadReply, "found nothing"),
        (Act::Json(json!([])), RowErrorKind::BadReply, "expected"),
        (Act::Json(json!({})), RowErrorKind::BadReply, "expected"),
        (Act::Json(json!({"choices": [], "data": [], "results": []})), RowErrorKind::BadReply, "expected"),
        (Act::Json(json!({"error": {"message": "no such model"}})), RowErrorKind::Refused, "no such model"),
        (Act::Json(json!({"error": {"code": 429, "message": "upstream is full"}})), RowErrorKind::RateLimited, "full"),
    ] {
        let shown = format!("{act:?}");
        for (name, error) in errors(act) {
            assert!(error.kind == kind && error.message.contains(words), "{name}: {shown}: {error}");
        }
    }
}

#[test]
fn retry_after_is_kept() {
    for (_, error) in errors(Act::Status(429, "Retry-After: 7", "slowly".into())) {
        assert_eq!(error.retry_after_s, Some(7));
    }
}

#[test]
fn no_message_holds_a_key_that_the_server_echoes() {
    let echo = format!("the key {KEY} of \"Bearer {KEY}\" is spent");
    for act in [
        Act::Status(401, "", echo.clone()),
        Act::Status(400, "", json!({"error": {"message": echo}}).to_string()),
        Act::Json(json!({ "error": echo })),
        Act::Json(json!({"error": {"message": echo, "code": 400}})),
        Act::Json(json!({"choices": echo, "data": echo, "results": echo})),
        Act::Json(
            json!({"choices": [{"message": {"refusal": echo}}], "data": [{"embedding": echo}], "results": [echo]}),
        ),
        Act::Json(json!({"choices": [{"message": {"content": [echo]}}], "data": [{"embedding": [echo]}]})),
        Act::Body(echo.clone()),
    ] {
        let shown = format!("{act:?}");
        for (name, error) in errors(act) {
            assert!(error.message.contains("***") || error.message.contains("MODEL_KEY"), "{name}: {shown}: {error}");
        }
    }
}

#[test]
fn no_debug_text_holds_a_key() {
    let server = ModelServer::healthy();
    let shown = format!(
        "{:?} {:?} {:?}",
        chat_model(&server),
        EmbedderSpec::OpenAi(embedder(&server, 8)),
        reranker(&server, RerankApi::Tei, 8)
    );
    assert!(shown.contains("Authorization") && !shown.contains(KEY), "{shown}");
}

#[test]
fn an_endpoint_that_cannot_be_asked_is_no_fault_of_a_row() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let provider = |error: StageError| match error.kind {
        StageErrorKind::Provider(why) => why,
        other => panic!("{other:?}"),
    };
    let mut spec = embedder(&server, 8);
    spec.endpoint.base_url = "http://user:hidden@host/v1".into();
    let texts = [("a", "a lamp")];
    let why = provider(
        embed_texts(&memory, Step::Embed, &EmbedderSpec::OpenAi(spec), TextRole::Query, &texts, None).expect_err("url"),
    );
    assert!(why.contains("embedder embed-1's url") && !why.contains("hidden"), "{why}");
    let mut model = chat_model(&server);
    model.endpoint.headers = vec![("X-Key".into(), "two\nlines".into())];
    let request = [("a".to_string(), ChatRequest::new(None, "Which lamp?", 48))];
    let why = provider(ask_chat(&memory, Step::Answer, &model, &request, &|_, _| Ok(())).expect_err("header"));
    assert!(why.contains("header \"X-Key\" of model small") && !why.contains("lines"), "{why}");
    let mut reranker = reranker(&server, RerankApi::Cohere, 8);
    reranker.endpoint.base_url = "ftp://host".into();
    let request = [("a".to_string(), RerankRequest { query: "lamp".into(), texts: vec!["a lamp".into()] })];
    let why = provider(rerank(&memory, Step::Retrieve, &reranker, &request).expect_err("url"));
    assert!(why.contains("reranker rerank-1's url"), "{why}");
}
