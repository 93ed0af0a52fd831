//! A chat model that says what a test tells it to say, and remembers what it was asked.

// Each test target uses its own part of it.
#![allow(dead_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use ragstage_stages::model::{ChatModel, Endpoint, Price};
use serde_json::{Value, json};

use crate::model_server::{Act, ModelServer, Request};

/// The running server. Every reply says that it took 100 tokens to read and 10 to write.
pub struct ChatServer {
    server: ModelServer,
    /// How many requests were looked at.
    seen: AtomicUsize,
}

/// A reply to a request's body: the message's content, or a status.
fn act(request: &Request, reply: Result<String, u16>) -> Act {
    assert_eq!(request.path, "chat/completions");
    match reply {
        Ok(text) => Act::Json(json!({
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        })),
        Err(status) => Act::Status(status, "", "{}".to_string()),
    }
}

/// The first message of a request.
fn prompt(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().expect("a prompt")
}

impl ChatServer {
    /// A server that replies to a request's body what `script` says.
    pub fn new(script: impl Fn(&Value) -> String + Send + 'static) -> Self {
        ChatServer::of(move |request| act(request, Ok(script(&request.body))))
    }

    /// A server that replies to a prompt, the first message of a request, with JSON or with a status.
    pub fn of_prompts(script: impl Fn(&str) -> Result<Value, u16> + Send + 'static) -> Self {
        ChatServer::of(move |request| act(request, script(prompt(&request.body)).map(|json| json.to_string())))
    }

    fn of(script: impl Fn(&Request) -> Act + Send + 'static) -> Self {
        ChatServer { server: ModelServer::new(script), seen: AtomicUsize::new(0) }
    }

    /// Goes on with another script.
    pub fn rescript(&self, script: impl Fn(&Value) -> String + Send + 'static) {
        self.server.rescript(move |request| act(request, Ok(script(&request.body))));
        self.seen.store(0, Ordering::SeqCst);
    }

    /// The prompts since the last call, sorted.
    pub fn prompts(&self) -> Vec<String> {
        let mut prompts: Vec<String> = self.asked().iter().map(|body| prompt(body).to_string()).collect();
        prompts.sort();
        prompts
    }

    /// The bodies of the requests since the last call, sorted by their text.
    pub fn asked(&self) -> Vec<Value> {
        let requests = self.server.requests("chat/completions");
        let seen = self.seen.swap(requests.len(), Ordering::SeqCst);
        let mut asked: Vec<Value> = requests.into_iter().skip(seen).map(|request| request.body).collect();
        asked.sort_by_key(Value::to_string);
        asked
    }

    /// The model `name` on this server, at 1 and 2 dollars per million tokens.
    pub fn model(&self, name: &str) -> ChatModel {
        ChatModel {
            name: "small".to_string(),
            model: name.to_string(),
            endpoint: Endpoint {
                label: "default".to_string(),
                base_url: self.server.base_url(),
                headers: Vec::new(),
                variables: Vec::new(),
            },
            structured: true,
            price: Price { input_per_million: 1.0, output_per_million: 2.0 },
        }
    }
}
