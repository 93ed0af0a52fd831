//! Graph: the entities and relations that a unit's chunks speak of.

mod build;
mod extract;
mod options;

pub use build::BuildGraph;
pub use extract::ExtractGraph;
pub use options::{GraphExtractor, GraphOptions};
