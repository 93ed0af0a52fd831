//! Score: evaluators over cached responses.

mod spec;

pub use spec::EvaluatorSpec;
