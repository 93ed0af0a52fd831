//! The graph: which actions evaluations consist of, and how they depend on each other.
//!
//! It grows twice: first the benchmarks' `sources` and `prepare`, then, once their run units are known, everything else.
//! Actions that evaluations, recipes or query modes have in common are one node.

mod build;
mod node;
mod render;

pub use build::{EvaluationNodes, GraphBuilder, GraphError};
pub use node::{Graph, Node, NodeId, ResponseNodes, Scope, Spec};
pub use render::{GraphFormat, render};
