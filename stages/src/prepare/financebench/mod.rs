//! The `financebench` adapter: questions about filings of companies (spec/openviking 2.4).

mod about;
mod adapter;
mod questions;

pub(super) use about::FINANCEBENCH;
pub use adapter::FinanceBenchSpec;
