//! A context in memory, for tests that run an action without a store.

// Each test target uses its own part of it.
#![allow(dead_code, unused_imports)]

mod memory_context;

pub use memory_context::{MemoryContext, Ran};
