//! The `locomo` adapter: very long conversations, and questions about them (spec/openviking 2.1).

mod about;
mod adapter;
mod conversation;
mod questions;
mod turn_ids;

pub(super) use about::LOCOMO;
pub use adapter::LocomoSpec;
