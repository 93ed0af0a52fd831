//! Query: what a knowledge base finds and answers for each case.

mod options;

pub use options::{AnswerOptions, ExtractiveOptions, SystemSpec, Transport};
