//! On-disk formats: samples that every later version opens, and golden stage outputs.

mod golden;
mod harbour;
#[path = "../../stages/tests/memory/mod.rs"]
mod memory;
mod parts;
mod processes;
mod stages;
mod store;
