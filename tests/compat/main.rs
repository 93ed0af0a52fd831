//! On-disk formats: samples that every later version opens, and golden stage outputs. And the keys: what they hold.

mod key_table;
