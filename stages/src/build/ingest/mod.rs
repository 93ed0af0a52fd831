//! A unit's documents in a system under test.

mod action;
mod handle;
mod openviking;

pub use action::Ingest;
pub use handle::Handle;
