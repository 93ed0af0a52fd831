//! The full-text index of a unit.

mod options;

pub use options::{AnalyzerOptions, Bm25Options, FullTextOptions, StopWords};
