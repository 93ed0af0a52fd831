//! Systems under test: somebody's own RAG service, reached over HTTP or as a command.

mod client;
mod command;
mod http;
mod process;
pub mod protocol;

pub use client::Client;
pub use command::CommandClient;
pub use http::HttpClient;
