//! Lints: what a reader should know of an evaluation before its numbers are trusted. Warnings, never errors.

mod collector;
mod constant_scores;
mod dangling_gold;
mod document_ids;
mod duplicate_hits;
mod known_documents;
mod lint;

pub(super) use collector::Lints;
pub(super) use lint::Lint;
