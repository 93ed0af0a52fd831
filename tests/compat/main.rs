//! On-disk formats: samples that every later version opens, and golden stage outputs.

mod store;
