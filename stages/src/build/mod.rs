//! Build: parsed pages become a knowledge base.

pub mod chunk;
pub mod full_text;
pub mod graph;
pub mod ingest;
pub mod vector;
