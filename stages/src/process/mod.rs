//! Programs of users that we start ourselves. Systems under test and evaluators we talk to line by line; others are run to their
//! end for what they print.

mod launch;
mod output;
#[expect(clippy::module_inception, reason = "the file is named after the noun inside it")]
mod process;
mod processes;

pub use launch::Launch;
pub(crate) use output::{OutputError, OutputLimits, output};
pub(crate) use processes::{Pairing, Processes};
