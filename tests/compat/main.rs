//! On-disk formats: samples that every later version opens, golden stage outputs, and what the keys hold.

mod key_table;
mod store;
