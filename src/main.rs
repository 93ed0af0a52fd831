//! The `ragstage` command.

use std::process::ExitCode;

/// Reading texts is mostly asking for small pieces of memory and giving them back, on all cores at once. The system's
/// allocator takes a quarter of the processor time of a scorer for that; this one a tenth (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ragstage::cli::main()
}
