//! Chat models.

use ragstage_stages::contract::Spend;
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::model::{ChatModel, ChatReply, ChatRequest, Outcome, ReplySchema, UsageSource, ask_chat};
use ragstage_stages::step::Step;
use serde_json::{Value, json};

use super::models::{KEY, chat_model};
use crate::memory::MemoryContext;
use crate::model_server::{Act, ModelServer, chat};

type Replies = Vec<Result<Outcome, RowError>>;

fn ask_with(
    memory: &MemoryContext,
    model: &ChatModel,
    requests: &[ChatRequest],
    accept: &(dyn Fn(usize, &ChatReply) -> Result<(), String> + Sync),
) -> Replies {
    let requests: Vec<(String, ChatRequest)> =
        requests.iter().enumerate().map(|(i, request)| (format!("r{i}"), request.clone())).collect();
    ask_chat(memory, Step::Answer, model, &requests, accept).expect("rows")
}

fn ask(memory: &MemoryContext, model: &ChatModel, request: &ChatRequest) -> Result<Outcome, RowError> {
    ask_with(memory, model, std::slice::from_ref(request), &|_, _| Ok(())).remove(0)
}

fn plain() -> ChatRequest {
    ChatRequest::new(Some("Be brief."), "Which lamp?", 48)
}

fn structured() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"lamp": {"type": "integer"}}, "required": ["lamp"]});
    ChatRequest { schema: Some(ReplySchema { name: "lamp", schema }), ..plain() }
}

#[test]
fn a_request_is_sent_as_it_is_and_once() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let model = chat_model(&server);
    let request = ChatRequest { seed: Some(7), stop: vec!["END".into()], ..plain() };
    let outcome = ask(&memory, &model, &request).expect("a reply");
    assert_eq!(
        (outcome.reply.text.as_str(), outcome.reply.finish_reason.as_deref()),
        ("I was asked: Which lamp?", Some("stop"))
    );
    let asked = server.requests("chat/completions");
    assert_eq!(
        asked[0].body,
        json!({"model": "small-1", "max_tokens": 48, "temperature": 0.0, "seed": 7, "stop": ["END"], "messages": [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which lamp?"}]})
    );
    assert_eq!(asked[0].authorization.as_deref(), Some(format!("Bearer {KEY}").as_str()));
    let usage = &outcome.usage;
    assert_eq!((usage.model.as_str(), usage.calls, usage.usage.source), ("small", 1, UsageSource::Server));
    let (read, written) = (usage.usage.prompt_tokens, usage.usage.completion_tokens);
    assert_eq!((written, usage.nano_usd), (5, read * 1000 + written * 2000));
    assert_eq!(memory.spent(), Spend { tokens: read + written, nano_usd: usage.nano_usd });
    assert_eq!(ask(&memory, &model, &request), Ok(outcome));
    assert_eq!(server.total(), 1);
}

#[test]
fn all_of_a_request_is_in_its_key() {
    let base = plain();
    let other = |change: &dyn Fn(&mut ChatRequest)| {
        let mut request = base.clone();
        change(&mut request);
        request.key()
    };
    let mut keys = vec![
        base.key(),
        structured().key(),
        ChatRequest::new(None, "Which lamp?", 48).key(),
        other(&|r| r.messages[1].content.push('?')),
        other(&|r| r.messages.swap(0, 1)),
        other(&|r| r.max_tokens = 49),
        other(&|r| r.temperature = 0.5),
        other(&|r| r.seed = Some(0)),
        other(&|r| r.seed = Some(u64::MAX)),
        other(&|r| r.stop.push("a".into())),
        other(&|r| r.sample = 1),
    ];
    keys.sort();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn a_reply_that_does_not_fit_its_schema_is_asked_for_again_and_paid_for() {
    let server = ModelServer::new(|request| match request.number {
        1 => Act::Say("It is lamp 7.".into()),
        _ => Act::Say(r#"{"lamp": 7}"#.into()),
    });
    let memory = MemoryContext::default();
    let outcome = ask(&memory, &chat_model(&server), &structured()).expect("a reply");
    assert_eq!((outcome.reply.text.as_str(), outcome.attempts, outcome.usage.calls), (r#"{"lamp": 7}"#, 2, 2));
    let asked = server.requests("chat/completions");
    assert_eq!(asked.iter().map(|request| request.body["seed"].clone()).collect::<Vec<_>>(), [Value::Null, json!(1)]);
    assert_eq!(asked[0].body["response_format"]["json_schema"]["schema"]["required"], json!(["lamp"]));
    // Four words written, then two.
    assert_eq!(outcome.usage.usage.completion_tokens, 6);
    assert_eq!(memory.spent().nano_usd, outcome.usage.nano_usd);
    assert_eq!(ask(&memory, &chat_model(&server), &structured()), Ok(outcome));
    assert_eq!(server.total(), 2);
}

#[test]
fn a_server_that_takes_no_schema_is_told_apart_from_one_that_takes_not_this_request() {
    let hint = "(say `structured: false` of the model)";
    let words = r#"{"error": {"message": "Unsupported value: 'response_format'"}}"#;
    let server = ModelServer::new(move |_| Act::Status(400, "", words.to_string()));
    let told = |request: &ChatRequest| {
        let error = ask(&MemoryContext::default(), &chat_model(&server), request).expect_err("no reply");
        (error.kind, error.message.contains("'response_format'"), error.message.ends_with(hint))
    };
    assert_eq!(told(&structured()), (RowErrorKind::Refused, true, true));
    assert_eq!(told(&plain()), (RowErrorKind::Refused, true, false));
    server.rescript(|_| Act::Status(400, "", "no such model".to_string()));
    assert_eq!(told(&structured()), (RowErrorKind::Refused, false, false));
}

#[test]
fn after_three_misfits_the_row_has_failed_and_the_next_run_asks_again() {
    let server = ModelServer::new(|_| Act::Say("It is lamp 7.".into()));
    let memory = MemoryContext::default();
    let request = ChatRequest { seed: Some(40), ..structured() };
    let error = ask(&memory, &chat_model(&server), &request).expect_err("no reply");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.starts_with("expected a JSON object, found It is lamp 7."), "{}", error.message);
    let seeds: Vec<Value> =
        server.requests("chat/completions").iter().map(|asked| asked.body["seed"].clone()).collect();
    assert_eq!(seeds, [40, 41, 42]);
    assert!(memory.spent().tokens > 3 * 4);
    ask(&memory, &chat_model(&server), &request).expect_err("no reply");
    assert_eq!(server.total(), 6);
}

#[test]
fn what_the_caller_does_not_accept_does_not_fit_either() {
    let server = ModelServer::new(|request| Act::Say(format!("{{\"lamp\": {}}}", request.number)));
    let accept = |_: usize, reply: &ChatReply| match reply.text.as_str() {
        r#"{"lamp": 3}"# => Ok(()),
        other => Err(format!("there is no such lamp: {other}")),
    };
    let memory = MemoryContext::default();
    let replies = ask_with(&memory, &chat_model(&server), &[structured()], &accept);
    assert_eq!(replies[0].as_ref().expect("a reply").reply.text, r#"{"lamp": 3}"#);
    // Without a schema there is nothing to fit.
    server.rescript(|request| Act::Say(format!("{{\"lamp\": {}}}", request.number)));
    let replies = ask_with(&memory, &chat_model(&server), &[plain()], &accept);
    let error = replies[0].as_ref().expect_err("not accepted");
    assert_eq!((error.kind, error.message.as_str()), (RowErrorKind::BadReply, "there is no such lamp: {\"lamp\": 1}"));
    assert_eq!(server.total(), 1);
}

#[test]
fn a_reply_that_was_cut_off_is_not_asked_for_again() {
    let server = ModelServer::new(|request| {
        let mut answer = chat("{\"lamp\": [7, 7, 7", request);
        answer["choices"][0]["finish_reason"] = json!("length");
        Act::Json(answer)
    });
    let error = ask(&MemoryContext::default(), &chat_model(&server), &structured()).expect_err("cut");
    assert!(error.message.contains("cut off at `max_tokens`"), "{}", error.message);
    assert_eq!(server.total(), 1);
    // As text it is what the model could say.
    let reply = ask(&MemoryContext::default(), &chat_model(&server), &plain()).expect("a reply").reply;
    assert_eq!((reply.text.as_str(), reply.finish_reason.as_deref()), ("{\"lamp\": [7, 7, 7", Some("length")));
}

#[test]
fn a_server_that_takes_no_seed_does_not_hide_what_was_wrong() {
    let server = ModelServer::new(|request| match request.number {
        1 => Act::Say("It is lamp 7.".into()),
        _ => Act::Status(422, "", "unknown field seed".into()),
    });
    let error = ask(&MemoryContext::default(), &chat_model(&server), &structured()).expect_err("no reply");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.contains("It is lamp 7."), "{}", error.message);
    // But a server that is down is tried again.
    server.rescript(|request| match request.number {
        1 => Act::Say("It is lamp 7.".into()),
        _ => Act::Status(503, "", "restarting".into()),
    });
    let error = ask(&MemoryContext::default(), &chat_model(&server), &structured()).expect_err("no reply");
    assert_eq!(error.kind, RowErrorKind::Server);
}

#[test]
fn a_fence_is_taken_off_only_for_a_model_without_structured_output() {
    let server = ModelServer::new(|_| Act::Say("```json\n{\"lamp\": 7}\n```".into()));
    let model = ChatModel { structured: false, ..chat_model(&server) };
    let reply = ask(&MemoryContext::default(), &model, &structured()).expect("a reply").reply;
    assert_eq!(reply.text, "{\"lamp\": 7}");
    assert_eq!(server.requests("chat/completions")[0].body.get("response_format"), None);
    let error = ask(&MemoryContext::default(), &chat_model(&server), &structured()).expect_err("fenced");
    assert!(error.message.contains("```json"), "{}", error.message);
}

#[test]
fn tokens_are_counted_where_the_server_does_not_say() {
    for usage in [json!(null), json!({"prompt_tokens": "31", "completion_tokens": "2"}), json!({"prompt_tokens": 31})] {
        let server = ModelServer::new(move |request| {
            let mut answer = chat("hello world", request);
            answer["usage"] = usage.clone();
            Act::Json(answer)
        });
        let memory = MemoryContext::default();
        let usage = ask(&memory, &chat_model(&server), &plain()).expect("a reply").usage.usage;
        // "Be brief." is 3 tokens of cl100k_base, "Which lamp?" 3, and frames are 2 * 4 + 3.
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (17, 2));
        assert_eq!((usage.source, memory.spent().tokens), (UsageSource::Counted, 19));
    }
}

#[test]
fn a_reply_is_paid_for_whatever_becomes_of_it() {
    for (body, spent) in [
        (json!({"choices": []}).to_string(), 17),
        (json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}).to_string(), 11),
        ("no JSON".to_string(), 17),
        (
            json!({"choices": [{"message": {"content": format!("your key is {KEY}")}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 6}})
            .to_string(),
            11,
        ),
        // But one that says that it failed was none.
        (json!({"error": {"code": 503, "message": "busy"}}).to_string(), 0),
    ] {
        let sent = body.clone();
        let server = ModelServer::new(move |_| Act::Body(sent.clone()));
        let memory = MemoryContext::default();
        let error = ask(&memory, &chat_model(&server), &plain()).expect_err("no reply");
        assert!(!error.message.contains(KEY), "{}", error.message);
        assert_eq!(memory.spent().tokens, spent, "{body}");
    }
}
