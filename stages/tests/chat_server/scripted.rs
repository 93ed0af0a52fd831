//! A scripted `/v1/chat/completions`.

use std::sync::{Arc, Mutex, PoisonError};

use ragstage_stages::model::{ChatModel, Endpoint, Price};
use serde_json::{Value, json};

type Script = Box<dyn Fn(&Value) -> String + Send>;

/// The running server.
pub struct ChatServer {
    address: String,
    script: Arc<Mutex<Script>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ChatServer {
    /// A server that replies to a request what `script` says; it counts 100 tokens read and 10 written.
    pub fn new(script: impl Fn(&Value) -> String + Send + 'static) -> Self {
        let server = tiny_http::Server::http("127.0.0.1:0").expect("a server");
        let address = server.server_addr().to_ip().expect("an address").to_string();
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Box::new(script)));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (told, heard) = (script.clone(), asked.clone());
        // Ends with the test process.
        std::thread::spawn(move || {
            for mut request in server.incoming_requests() {
                let body: Value = serde_json::from_reader(request.as_reader()).expect("JSON");
                let text = (told.lock().unwrap_or_else(PoisonError::into_inner))(&body);
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(body);
                let reply = json!({
                    "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
                });
                let _ = request.respond(tiny_http::Response::from_string(reply.to_string()));
            }
        });
        ChatServer { address, script, asked }
    }

    /// Goes on with another script.
    pub fn rescript(&self, script: impl Fn(&Value) -> String + Send + 'static) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(script);
    }

    /// The requests since the last call, sorted by their text.
    pub fn asked(&self) -> Vec<Value> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        asked.sort_by_key(Value::to_string);
        asked
    }

    /// The model `name` on this server.
    pub fn model(&self, name: &str) -> ChatModel {
        ChatModel {
            name: "small".to_string(),
            model: name.to_string(),
            endpoint: Endpoint {
                label: "default".to_string(),
                base_url: format!("http://{}/v1", self.address),
                headers: Vec::new(),
                variables: Vec::new(),
            },
            structured: true,
            price: Price { input_per_million: 1.0, output_per_million: 2.0 },
        }
    }
}
