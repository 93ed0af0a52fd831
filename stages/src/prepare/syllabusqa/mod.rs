//! The `syllabusqa` adapter: questions about course syllabi (spec/openviking 2.2).

mod about;
mod adapter;
mod questions;
mod syllabi;
mod table;

pub(super) use about::SYLLABUSQA;
pub use adapter::SyllabusQaSpec;
pub use syllabi::SyllabusForm;
