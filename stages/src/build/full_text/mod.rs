//! The full-text index of a unit.

mod analyzer;
mod bm25;
mod cjk;
mod full_text_index;
mod index;
mod options;
mod postings;
mod stop_words;

pub use analyzer::{ANALYZER_VERSION, Analyzer, check};
pub use bm25::{Bm25, Ranked};
pub use full_text_index::{FullTextIndex, indexed_text};
pub use index::Index;
pub use options::{AnalyzerOptions, Bm25Options, FullTextOptions, StopWords, TITLE_WEIGHT};
pub use stop_words::stop_words_of;
