//! The `musique` adapter: questions that are made of two to four others, each answered in a paragraph of its own.

mod about;
mod adapter;

pub(super) use about::MUSIQUE;
pub use adapter::MusiqueSpec;
