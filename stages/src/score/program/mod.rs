//! Evaluators that are programs of users, in any language.

mod evaluator;
pub mod protocol;
mod spec;

pub use evaluator::{Program, columns};
pub use spec::{ProgramRunner, ProgramSpec};
