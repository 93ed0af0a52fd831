//! A small harbour: what is found and asked in the tests of queries.

mod scene;

pub use scene::{chunk, chunks, queries, run};
