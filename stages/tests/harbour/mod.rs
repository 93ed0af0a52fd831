//! A small harbour: what is found and asked in the tests of queries.

// Each test target uses its own part of it.
#![allow(dead_code, unused_imports)]

mod scene;

pub use scene::{chunk, chunks, queries, run};
