//! A model that says what a test tells it to say.

mod chat_server;

pub use chat_server::ChatServer;
