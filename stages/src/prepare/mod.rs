//! Prepare: a dataset's own files become documents, queries, gold and units.

mod spec;

pub use spec::{AdapterSpec, BeirSpec, BenchmarkSpec, JsonlSpec, Selection};
