//! A context in memory.

mod memory_context;

pub use memory_context::MemoryContext;
