//! `completions`.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::failure::Failure;
use super::out::out;
use crate::exit;

/// Prints the completion script of the command that `C` describes.
///
/// # Errors
/// When stdout cannot be written to.
pub fn completions<C: CommandFactory>(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut C::command(), "ragstage", &mut script);
    out(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}
