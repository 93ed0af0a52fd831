//! The `command` adapter: a program of the user's that prints a benchmark as JSON lines.

mod adapter;
mod manifest;
mod program;
mod records;

pub use adapter::CommandSpec;
pub use program::BenchmarkProgram;
