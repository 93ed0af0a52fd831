//! Systems under test: somebody's own RAG service, reached over HTTP or as a command.

mod client;
mod command;
mod http;
mod knowledge_base;
mod mapping;
mod probe;
mod process;
pub mod protocol;

pub use client::Client;
pub use command::CommandClient;
pub use http::HttpClient;
pub use knowledge_base::{Ingested, IngestedDocument, Operation};
pub use mapping::{Mapping, Placeholder, RequestTemplate, ResponseMapping};
pub(super) use probe::Probe;
