//! A chat model that says what a test tells it to say.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ragstage_stages::model::{ChatModel, Endpoint, Price};
use serde_json::{Value, json};
use tiny_http::{Response, Server};

/// What to reply to a prompt: the content of the message, or a status.
pub type Script = dyn Fn(&str) -> Result<Value, u16> + Send;

/// A server that plays a script; it ends with the value.
pub struct ChatServer {
    server: Arc<Server>,
    prompts: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl ChatServer {
    /// A server that replies as `script` says. Every reply took 10 tokens to read and 2 to write.
    pub fn start(script: Box<Script>) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("a port"));
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let (own, told) = (server.clone(), prompts.clone());
        let thread = std::thread::spawn(move || {
            for mut request in own.incoming_requests() {
                let body: Value = serde_json::from_reader(request.as_reader()).expect("JSON");
                let prompt = body["messages"][0]["content"].as_str().expect("a prompt").to_string();
                let reply = script(&prompt);
                told.lock().expect("prompts").push(prompt);
                let response = match reply {
                    Ok(content) => Response::from_string(
                        json!({
                            "choices": [{"message": {"content": content.to_string()}, "finish_reason": "stop"}],
                            "usage": {"prompt_tokens": 10, "completion_tokens": 2},
                        })
                        .to_string(),
                    ),
                    Err(status) => Response::from_string("{}").with_status_code(status),
                };
                let _ = request.respond(response);
            }
        });
        ChatServer { server, prompts, thread: Some(thread) }
    }

    /// The model that it serves.
    pub fn model(&self) -> ChatModel {
        ChatModel {
            name: "small".to_string(),
            model: "scripted".to_string(),
            endpoint: Endpoint {
                label: "default".to_string(),
                base_url: format!("http://{}/v1", self.server.server_addr()),
                headers: Vec::new(),
                variables: Vec::new(),
            },
            structured: true,
            price: Price { input_per_million: 1.0, output_per_million: 2.0 },
        }
    }

    /// The prompts since the last call, sorted.
    pub fn prompts(&self) -> Vec<String> {
        let mut prompts = std::mem::take(&mut *self.prompts.lock().expect("prompts"));
        prompts.sort();
        prompts
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
