//! A unit's documents in a system under test.

mod action;
mod handle;

pub use action::Ingest;
pub use handle::Handle;
