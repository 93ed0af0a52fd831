//! Chunks: the passages that are indexed and retrieved.

mod action;
mod heading;
mod options;
mod packing;
mod passage;
mod prefix;
mod recursive;
mod sentence;
mod token;
mod tokenizer;

pub use action::ChunkDocuments;
pub use options::{ChunkOptions, Splitter, Tokenizer};
