//! The `qasper` adapter: questions about papers of natural language processing (spec/openviking 2.3).

mod about;
mod adapter;
mod annotation;
mod paper;
mod questions;

pub(super) use about::QASPER;
pub use adapter::QasperSpec;
