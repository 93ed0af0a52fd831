//! Runs one action. Knows nothing of the graph: it takes a task and gives an outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ragstage_cache::action::{ActionRecord, OutputRecord};
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::{Action, Produced};
use ragstage_stages::error::{StageError, StageErrorKind};
use ragstage_stages::step::Step;

use super::context::ActionContext;
use super::event::Event;
use super::shared::Shared;
use crate::graph::NodeId;

/// The version of the action records written here.
pub const RECORD_FORMAT: u32 = 1;

/// What a worker is given.
pub struct Task {
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
    /// Whether its work is our own computing rather than calls of somebody else.
    pub computes: bool,
}

/// What a worker gives back.
pub struct Outcome {
    /// Whose outcome it is.
    pub id: NodeId,
    /// What became of it.
    pub result: Result<Ran, Failure>,
}

/// An action whose outputs are known.
pub struct Ran {
    /// The artifacts.
    pub outputs: Vec<OutputRecord>,
    /// Whether every row was computed and every input complete.
    pub complete: bool,
    /// Rows that failed.
    pub failed: u64,
    /// Rows that can never be computed from these inputs (a document that no parser reads); part of the value.
    pub rejected: u64,
    /// The row slots it used.
    pub slots: Vec<Digest>,
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
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

/// Runs `task` to its outcome.
pub fn work(shared: &Shared, task: Task) -> Outcome {
    let id = task.id;
    Outcome { id, result: run(shared, &task) }
}

fn run(shared: &Shared, task: &Task) -> Result<Ran, Failure> {
    let waiting = &mut || shared.events.event(&Event::ActionWaiting { step: task.step, label: task.label.clone() });
    let _guard = shared.store.locks().acquire(&task.key, waiting)?;
    if task.keep
        && let Some(ran) = cached(shared, &task.key)?
    {
        return Ok(ran);
    }
    let permit = task.computes.then(|| shared.computing.take());
    if shared.interrupt.asked() {
        return Err(Failure::Stage(StageError { step: task.step, kind: StageErrorKind::Cancelled }));
    }
    shared.events.event(&Event::ActionStarted { step: task.step, label: task.label.clone(), key: task.key });
    let started = Instant::now();
    let context = ActionContext::new(shared, task.step, &task.label);
    let produced = std::panic::catch_unwind(AssertUnwindSafe(|| task.action.run(&context)))
        .map_err(|panic| Failure::Panic(panic_message(&*panic)))?
        .map_err(Failure::Stage)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    // What follows waits for the device, not for a processor.
    drop(permit);
    let complete = produced.failed == 0 && task.keep;
    let slots = context.slots();
    let outputs = store_outputs(shared, &produced)?;
    if complete {
        let record = ActionRecord {
            format: RECORD_FORMAT,
            key: task.key,
            step: task.step.name().to_string(),
            label: task.label.clone(),
            outputs: outputs.clone(),
            rejected: produced.rejected,
            slots: slots.clone(),
            elapsed_ms,
            created_unix_ms: now_ms(),
        };
        shared.store.actions().put(&record, &Manifest::of(&*task.action))?;
    }
    Ok(Ran {
        outputs,
        complete,
        failed: produced.failed,
        rejected: produced.rejected,
        slots,
        shared: false,
        elapsed_ms,
    })
}

/// The outputs of an action that another process finished while we waited for its lock.
fn cached(shared: &Shared, key: &Digest) -> Result<Option<Ran>, Failure> {
    Ok(whole(shared, key)?.map(|record| Ran {
        outputs: record.outputs,
        complete: true,
        failed: 0,
        rejected: record.rejected,
        slots: record.slots,
        shared: true,
        elapsed_ms: 0.0,
    }))
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
    produced
        .outputs
        .iter()
        .map(|output| {
            Ok(OutputRecord {
                name: output.name.to_string(),
                digest: shared.store.cas().put(&output.bytes)?,
                bytes: output.bytes.len() as u64,
                rows: output.rows,
                observation: output.observation,
            })
        })
        .collect()
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

/// A worker's loop: tasks in, outcomes out, until the tasks end.
pub fn serve(
    shared: Arc<Shared>,
    tasks: crossbeam_channel::Receiver<Task>,
    outcomes: crossbeam_channel::Sender<Outcome>,
) {
    for task in tasks {
        if outcomes.send(work(&shared, task)).is_err() {
            return;
        }
    }
}
