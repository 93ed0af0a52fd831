//! Programs of users that we start ourselves and talk to line by line: systems under test, and evaluators.

mod launch;
#[expect(clippy::module_inception, reason = "the file is named after the noun inside it")]
mod process;
mod processes;

pub use launch::Launch;
pub(crate) use processes::{Pairing, Processes};
