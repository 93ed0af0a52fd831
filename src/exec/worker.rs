//! Runs one action. Knows nothing of the graph: it takes an assignment and gives an outcome.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ragstage_cache::action::{ACTION_FORMAT, ActionRecord, ActionSpend, OutputRecord};
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::{Action, Output, Produced, Spend};
use ragstage_stages::error::StageError;
use ragstage_stages::step::Step;

use rayon::prelude::*;

use super::context::ActionContext;
use super::event::Event;
use super::shared::Shared;
use crate::graph::NodeId;

/// What a worker is given.
pub struct Assignment {
    /// Whom the outcome is for.
    pub id: NodeId,
    /// Step.
    pub step: Step,
    /// Label.
    pub label: String,
    /// Action key.
    pub key: Digest,
    /// The action.
    pub action: Box<dyn Action>,
    /// Whether the outputs may be kept: every input is complete.
    pub keep: bool,
    /// Whether a system under test may be asked.
    pub ask: bool,
    /// Whether it may ask somebody else.
    pub calls: bool,
    /// Whether it computes itself, beside what it asks of others.
    pub computes: bool,
    /// Files that must not be written to while it calls.
    pub watched: Arc<Vec<PathBuf>>,
    /// The outputs of its last run by name, where it takes rows out of them.
    pub previous: BTreeMap<String, Digest>,
}

/// What a worker gives back.
pub struct Outcome {
    /// Whose outcome it is.
    pub id: NodeId,
    /// What became of it.
    pub result: Result<Ran, Failure>,
    /// The row slots it used, also where it failed: what was paid for is in them.
    pub slots: Vec<Digest>,
    /// As in its assignment.
    pub calls: bool,
}

/// An action whose outputs are known.
pub struct Ran {
    /// The artifacts.
    pub outputs: Vec<OutputRecord>,
    /// Whether every row was computed and every input complete.
    pub complete: bool,
    /// Rows that failed, here or upstream.
    pub failed: u64,
    /// Rows that failed here and may succeed another time.
    pub failed_here: u64,
    /// Rows that can never be computed from these inputs (a document that no parser reads); part of the value.
    pub rejected: u64,
    /// Why a provider could not be used at all, where it came to its end without it.
    pub unusable: Option<String>,
    /// Whether another process computed it.
    pub shared: bool,
    /// Wall time.
    pub elapsed_ms: f64,
}

/// Why an action has no outputs.
pub enum Failure {
    /// The stage said so.
    Stage(StageError),
    /// Its outputs could not be kept.
    Store(StoreError),
    /// Its code broke down.
    Panic(String),
    /// The run was interrupted while another process computed it.
    Interrupted,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

/// Runs `assignment` to its outcome.
pub fn work(shared: &Shared, assignment: Assignment) -> Outcome {
    let mut slots = Vec::new();
    // Whatever breaks down, the run hears of it: it waits for this outcome.
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| run(shared, &assignment, &mut slots)))
        .unwrap_or_else(|panic| Err(Failure::Panic(panic_message(&*panic))));
    Outcome { id: assignment.id, result, slots, calls: assignment.calls }
}

fn run(shared: &Shared, assignment: &Assignment, slots: &mut Vec<Digest>) -> Result<Ran, Failure> {
    let mut told = false;
    let mut go_on = || {
        if !std::mem::replace(&mut told, true) {
            shared.events.event(&Event::ActionWaiting { step: assignment.step, label: assignment.label.clone() });
        }
        !shared.interrupt.asked()
    };
    let Some(_guard) = shared.store.locks().acquire_while(&assignment.key, &mut go_on)? else {
        return Err(Failure::Interrupted);
    };
    // Finished by another process while we waited for its lock.
    if assignment.keep
        && let Some(record) = whole(shared, &assignment.key)?
    {
        slots.extend(&record.slots);
        shared.ledger.save(spend_of(&record));
        return Ok(shared_with(record));
    }
    let permit = assignment.computes.then(|| shared.computing.take());
    if shared.interrupt.asked() {
        return Err(Failure::Interrupted);
    }
    shared.events.event(&Event::ActionStarted {
        step: assignment.step,
        label: assignment.label.clone(),
        key: assignment.key,
    });
    let started = Instant::now();
    let mut context = ActionContext::new(shared, assignment.step, &assignment.label);
    context.ask = assignment.ask;
    context.watched = &assignment.watched;
    context.previous = Some(&assignment.previous);
    context.hold(permit);
    // What was kept of rows stays known, however the action ends.
    let produced = std::panic::catch_unwind(AssertUnwindSafe(|| assignment.action.run(&context)));
    slots.extend(context.slots());
    let produced = produced.map_err(|panic| Failure::Panic(panic_message(&*panic)))?.map_err(Failure::Stage)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    // What follows waits for the device, not for a processor.
    context.release();
    let complete = produced.failed == 0 && assignment.keep;
    let outputs = store_outputs(shared, &produced)?;
    if complete {
        let record = ActionRecord {
            format: ACTION_FORMAT,
            key: assignment.key,
            step: assignment.step.name().to_string(),
            label: assignment.label.clone(),
            outputs: outputs.clone(),
            rejected: produced.rejected,
            slots: slots.clone(),
            spend: Some(context.spend())
                .filter(|spend| *spend != Spend::default())
                .map(|Spend { tokens, nano_usd }| ActionSpend { tokens, nano_usd }),
            withdrawn: None,
            elapsed_ms,
            created_unix_ms: now_ms(),
        };
        shared.store.actions().put(&record, &Manifest::of(&*assignment.action))?;
    }
    Ok(Ran {
        outputs,
        complete,
        failed: produced.failed,
        failed_here: context.failed().min(produced.failed),
        rejected: produced.rejected,
        unusable: produced.unusable,
        shared: false,
        elapsed_ms,
    })
}

fn shared_with(record: ActionRecord) -> Ran {
    Ran {
        outputs: record.outputs,
        complete: true,
        failed: 0,
        failed_here: 0,
        rejected: record.rejected,
        unusable: None,
        shared: true,
        elapsed_ms: 0.0,
    }
}

/// What the rows of a cached action have cost.
pub fn spend_of(record: &ActionRecord) -> Spend {
    record.spend.map(|spend| Spend { tokens: spend.tokens, nano_usd: spend.nano_usd }).unwrap_or_default()
}

/// A cached action whose artifacts are all there.
pub fn whole(shared: &Shared, key: &Digest) -> Result<Option<ActionRecord>, StoreError> {
    Ok(shared
        .store
        .actions()
        .get(key)?
        .filter(|record| record.outputs.iter().all(|output| shared.store.cas().has(&output.digest, output.bytes))))
}

fn store_outputs(shared: &Shared, produced: &Produced) -> Result<Vec<OutputRecord>, StoreError> {
    // So large that hashing and writing one takes longer than to wake another thread for the next.
    const LARGE: usize = 4 << 20;
    let record = |output: &Output| {
        Ok(OutputRecord {
            name: output.name.to_string(),
            digest: shared.store.cas().put(&output.bytes)?,
            bytes: output.bytes.len() as u64,
            rows: output.rows,
            observation: output.observation,
        })
    };
    match produced.outputs.iter().filter(|output| output.bytes.len() > LARGE).count() > 1 {
        true => shared.threads.install(|| produced.outputs.par_iter().map(record).collect()),
        false => produced.outputs.iter().map(record).collect(),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "without a message".to_string())
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as u64)
}

/// A worker's loop: assignments in, outcomes out, until the assignments end.
pub fn serve(
    shared: Arc<Shared>,
    assignments: crossbeam_channel::Receiver<Assignment>,
    outcomes: crossbeam_channel::Sender<Outcome>,
) {
    for assignment in assignments {
        if outcomes.send(work(&shared, assignment)).is_err() {
            return;
        }
    }
}
