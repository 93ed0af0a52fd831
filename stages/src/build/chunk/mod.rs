//! Chunks: the passages that are indexed and retrieved.

mod options;

pub use options::{ChunkOptions, Splitter, Tokenizer};
