//! The `hotpotqa` adapter: questions over two paragraphs of Wikipedia each, among eight that mislead.

mod about;
mod adapter;

pub(super) use about::HOTPOTQA;
pub use adapter::HotpotqaSpec;
