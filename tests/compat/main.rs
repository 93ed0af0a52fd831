//! On-disk formats: samples that every later version opens, golden stage outputs, and what the keys hold.

mod golden;
mod harbour;
mod key_table;
#[path = "../../stages/tests/memory/mod.rs"]
mod memory;
mod parts;
mod processes;
mod stages;
mod store;
