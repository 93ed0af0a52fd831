//! What happens during a run, as typed events: the executor's only output.
//!
//! Progress bars, plain lines, the run record's `events.jsonl` and tests are consumers. The JSON form is tagged with
//! `event`; fields are only ever added.

use ragstage_cache::Digest;
use ragstage_stages::error::RowError;
use ragstage_stages::step::Step;
use serde::{Deserialize, Serialize};

use super::ledger::Account;
use crate::stale::StaleReason;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// The evaluations' names.
        evaluations: Vec<String>,
    },
    /// Actions became known.
    ActionsPlanned {
        /// How many there are in all now.
        actions: usize,
    },
    /// An action's outputs are there already.
    ActionFresh {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Action key.
        key: Digest,
    },
    /// An action has to run.
    ActionStale {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Action key.
        key: Digest,
        /// Why.
        reasons: Vec<StaleReason>,
    },
    /// Another process computes the same action; this one waits for it.
    ActionWaiting {
        /// Step.
        step: Step,
        /// Label.
        label: String,
    },
    /// An action runs.
    ActionStarted {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Action key.
        key: Digest,
    },
    /// An action's rows were looked up.
    RowsPlanned {
        /// Step.
        step: Step,
        /// Label of the action.
        label: String,
        /// Rows in all.
        total: usize,
        /// Rows found in the row cache, or in what the action gave the last time.
        cached: usize,
        /// Whether they are for the sake of other rows of the same action: what a case asks of models.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
    },
    /// A row was computed (never sent for a cached row).
    RowDone {
        /// Step.
        step: Step,
        /// Label of the action.
        label: String,
        /// The item: a document id, a case id.
        item: String,
        /// How many attempts it took.
        attempts: u32,
        /// Whether it was a call of somebody else, which may cost, rather than our own computing.
        #[serde(default)]
        paid: bool,
        /// Whether it was for the sake of another row of the same action.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
    },
    /// Many rows were computed on the CPU at once; such rows are not told one by one.
    RowsDone {
        /// Step.
        step: Step,
        /// Label of the action.
        label: String,
        /// How many.
        rows: usize,
    },
    /// An attempt failed and another one follows.
    RowRetried {
        /// Step.
        step: Step,
        /// Label of the action.
        label: String,
        /// The item, or the first of several that were asked for at once.
        item: String,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// Milliseconds until the next.
        wait_ms: u64,
        /// Why.
        error: RowError,
    },
    /// A row could not be computed.
    RowFailed {
        /// Step.
        step: Step,
        /// Label of the action.
        label: String,
        /// The item.
        item: String,
        /// Why.
        error: RowError,
        /// Whether it was for the sake of another row of the same action, which says itself what becomes of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nested: bool,
    },
    /// An action ran to its end.
    ActionFinished {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Action key.
        key: Digest,
        /// Wall time.
        elapsed_ms: f64,
        /// Whether every row was computed; an incomplete action is not cached.
        complete: bool,
        /// Rows that failed.
        failed: u64,
        /// Whether the outputs are those of the last run (early cutoff: nothing downstream is stale through it).
        same_outputs: bool,
    },
    /// Another process computed the action while this one waited.
    ActionShared {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Action key.
        key: Digest,
    },
    /// An action could not give its outputs.
    ActionFailed {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// Why.
        error: String,
    },
    /// An action is not run because one it depends on failed.
    ActionSkipped {
        /// Step.
        step: Step,
        /// Label.
        label: String,
        /// The label of the failed action.
        after: String,
    },
    /// The store found something damaged and put it aside.
    StoreIncident {
        /// What was found and what was done.
        message: String,
    },
    /// A pool's last calls all failed; it makes no more.
    BreakerOpened {
        /// The pool.
        pool: String,
        /// The last failure.
        error: RowError,
    },
    /// A pool was refused by its provider; it makes no more calls.
    PoolStopped {
        /// The pool.
        pool: String,
        /// The refusal.
        error: RowError,
    },
    /// The budget does not hold a call: it is not made, nor is any later one that does not fit.
    BudgetReached {
        /// The pool.
        pool: String,
        /// What its rows say.
        error: RowError,
    },
    /// The user asked to stop; calls in flight land first.
    Interrupted,
    /// A file was brought up to date for the user.
    Published {
        /// The file.
        path: String,
        /// Whether its content changed.
        changed: bool,
    },
    /// The run ended.
    RunFinished {
        /// Actions that ran.
        executed: usize,
        /// Actions that were there already.
        fresh: usize,
        /// Actions that could not run.
        failed: usize,
        /// Rows computed.
        rows_computed: usize,
        /// Rows that failed.
        rows_failed: usize,
        /// What was spent and saved, where there is anything of either.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spend: Option<Account>,
    },
}

/// Takes events; shared by all threads of a run.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn event(&self, event: &Event);
}

impl<T: EventSink + ?Sized> EventSink for std::sync::Arc<T> {
    fn event(&self, event: &Event) {
        (**self).event(event);
    }
}

/// Hands every event to several sinks in order.
#[derive(Default)]
pub struct Fanout {
    sinks: Vec<Box<dyn EventSink>>,
}

impl Fanout {
    /// Adds a sink.
    pub fn add(&mut self, sink: Box<dyn EventSink>) {
        self.sinks.push(sink);
    }
}

impl EventSink for Fanout {
    fn event(&self, event: &Event) {
        for sink in &self.sinks {
            sink.event(event);
        }
    }
}
