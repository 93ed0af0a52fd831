//! A chat model that says what a test tells it to, and remembers what it was asked.

mod scripted;

pub use scripted::ChatServer;
