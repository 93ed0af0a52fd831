//! The query modes of recipes that are built here: which options each takes.
//!
//! `queries[].options` is free for systems under test; for these modes it is held against the mode's record.

mod asked_mode;
mod base_mode;
mod full_text_search;
mod graph_search;
mod hybrid_search;
mod modes;
#[cfg(test)]
mod modes_test;
mod multihop_search;
mod prompted;
mod rerank_search;
mod rewrite_search;
mod vector_search;

pub(super) use modes::{Modes, is_mode, mode_names, mode_options};
