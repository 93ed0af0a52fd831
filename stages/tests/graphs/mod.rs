//! Searching graphs, and a scripted chat model that extracts them.

mod chat_server;
mod search;
mod vector;

pub use chat_server::ChatServer;
