//! The real command against real models: an embedding server and a chat model on loopback, embedders in process, and an OpenViking
//! server.
//! `make test-services` starts the servers; without them these tests say SKIPPED.
//!
//! The chat model is a tiny one that runs on two cores: prompts are short and so are replies. What it says is not judged, only
//! that it is asked once, that what it says is kept, and that a second run asks nothing: counted at the server's door.

#[path = "../e2e/counting_proxy.rs"]
mod counting_proxy;
mod embeddings;
mod judges;
mod llm;
#[path = "../e2e/model_server.rs"]
mod model_server;
mod openviking;
mod servers;
mod slices;
#[allow(dead_code)] // This target uses a part of it.
#[path = "../e2e/space.rs"]
mod space;
mod town;
#[path = "../e2e/wire.rs"]
mod wire;
