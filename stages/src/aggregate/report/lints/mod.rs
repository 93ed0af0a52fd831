//! Lints: what a reader should know of an evaluation before its numbers are trusted. Warnings, never errors.

mod collector;
mod constant_scores;
mod dangling_gold;
mod document_ids;
mod duplicate_hits;
mod known_documents;
mod lint;
mod names;
mod no_qrels;
mod retrieval_bypass;
mod self_hit;
mod small_n;
mod ties;
mod unjudged_heavy;

pub(super) use collector::Lints;
pub(super) use lint::Lint;
pub use names::LINTS;
