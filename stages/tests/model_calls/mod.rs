//! What is asked of models over HTTP.

mod chat;
mod embeddings;
mod faults;
mod models;
mod reranking;
