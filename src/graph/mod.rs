//! The graph: which actions evaluations consist of, and how they depend on each other.
//!
//! It grows twice: first the benchmarks' `sources` and `prepare`, then, once their run units are known, everything else.
//! Actions that evaluations, recipes or query modes have in common are one node.

mod asked;
mod baseline;
mod builder;
mod embedder;
mod error;
mod evaluation_nodes;
mod import;
mod knowledge_base;
mod lints;
mod model_calls;
mod node;
mod render;
mod unit_place;

pub use builder::GraphBuilder;
pub use error::GraphError;
pub use evaluation_nodes::EvaluationNodes;
pub use lints::known_lints;
pub use node::{EmbedWhat, Graph, Node, NodeId, ResponseNodes, Scope, Spec};
pub use render::{GraphFormat, render};
