//! What would run, before anything is spent: every action fresh or stale, with its reasons and the rows to come.
//!
//! A plan writes nothing. It reads the benchmark itself when `prepare` is stale (that costs nobody anything), so that units
//! and cases are known even before the first run. What depends on an action that has to run first has an unknown key: it is
//! planned as a cascade, and early cutoff may still spare it.

mod calls;
mod context;
mod entry;
mod expected;
mod overlay;
#[expect(clippy::module_inception, reason = "the file is named after the noun inside it")]
mod plan;
mod planner;
mod rows;

pub use calls::CallsToCome;
pub use entry::{Entry, Standing};
pub use expected::UNKNOWN;
pub use overlay::Overlay;
pub use plan::{Plan, Totals};
pub use planner::Planner;
pub use rows::{RowFact, RowPlace, RowsToCome};
