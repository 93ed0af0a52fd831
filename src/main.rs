//! The `ragstage` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ragstage::cli::main()
}
