//! The executor: a dispatcher that owns all state, workers that know nothing of the graph, and the events they emit.

mod actions;
mod calls;
mod claims;
mod context;
mod cpu_rows;
mod decoded;
mod dispatcher;
mod event;
mod interrupt;
mod ledger;
mod outcome;
mod permits;
mod pool;
mod pools;
mod previous;
mod shared;
mod sources;
mod state;
mod worker;

#[cfg(test)]
mod rows_test;

pub use actions::{ActionSource, NodeOutputs};
pub use claims::Claims;
pub use context::ActionContext;
pub use decoded::DecodedArtifacts;
pub use dispatcher::{Dispatcher, NodeRun, Rules};
pub use event::{Event, EventSink, Fanout};
pub use interrupt::Interrupt;
pub use ledger::{Account, Ledger};
pub use outcome::RunError;
pub use permits::{Permit, Permits};
pub use pool::{CallPool, Closed, Expected, Notice, PoolLimits};
pub use pools::Pools;
pub use previous::{ACTIONS_FILE, Previous, RecordedAction};
pub use shared::Shared;
pub use sources::{FileFact, Sources};
pub use state::State;
