//! What is asked of models over HTTP, against a scripted server.

mod memory;
mod model_calls;
#[path = "../../tests/e2e/model_server.rs"]
mod model_server;
#[path = "../../tests/e2e/wire.rs"]
mod wire;
