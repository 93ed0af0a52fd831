//! A context in memory, for tests that run an action without a store.

mod memory_context;

pub use memory_context::MemoryContext;
