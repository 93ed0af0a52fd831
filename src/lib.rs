//! ragstage evaluates RAG knowledge recipes on benchmarks as a pipeline of content-hashed stages.
//!
//! - [`evaluation`]: the evaluation file.
//! - [`graph`]: which actions an evaluation consists of, and how they depend on each other.
//! - [`exec`]: the dispatcher, its workers, and the events they emit.
//! - [`data`], [`download`]: public datasets, and how files get here.
//! - [`batch`]: some evaluations over one store, from files to reports.
//! - [`models`]: model files of embedders that run in process.
//! - [`openviking`]: the configurations and result files of OpenViking's benchmark.
//! - [`plan`], [`explain`]: what would run, and why.
//! - [`publish`]: what a run leaves in the user's folders.
//! - [`scorer`]: scores of run files and response files, without a store.
//! - [`progress`], [`cli`]: what people see.
//!
//! The meaning of all of it is in ARCHITECTURE.md.

/// Prints a line on stderr. Unlike `eprintln!` it does not panic where nobody reads stderr any more (`ragstage run 2>&1 |
/// head`): what was computed is worth more than what is said about it.
macro_rules! tell {
    ($($message:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{}", $crate::plain::plain(&format!($($message)*)));
    }};
}

pub mod batch;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod data;
pub mod download;
pub mod evaluation;
pub mod exec;
pub mod exit;
pub mod explain;
pub mod graph;
pub mod models;
pub mod openviking;
pub mod plain;
pub mod plan;
pub mod progress;
pub mod publish;
pub mod scorer;
pub mod stale;
