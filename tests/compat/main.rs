//! On-disk formats: samples that every later version opens, golden stage outputs, and what the keys hold.

mod golden;
mod harbour;
mod key_table;
#[path = "../../stages/tests/memory/mod.rs"]
mod memory;
#[path = "../e2e/model_server.rs"]
mod model_server;
#[path = "../e2e/openviking_server.rs"]
mod openviking_server;
mod papers;
mod parts;
mod processes;
mod searches;
mod stages;
mod store;
#[path = "../e2e/wire.rs"]
mod wire;
