//! `ragstage` evaluates knowledge recipes (ways to build and query a RAG knowledge base) on benchmarks.
//!
//! [`evaluation`] reads the file that says what to evaluate.

pub mod evaluation;
