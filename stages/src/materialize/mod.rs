//! Materialize: documents become parsed pages.

mod options;

pub use options::ParseOptions;
