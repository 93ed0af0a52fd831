//! What a running action is lent: blobs, source files, and rows that are computed, journaled and kept.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ragstage_cache::key::key_of;
use ragstage_cache::rows::{Durability, RowSlot};
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::{Call, ComputeRow, Context, Decoded, MakeValue, Pool, Row, RowBatch, RowOutcome};
use ragstage_stages::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::step::{Stage, Step};
use rayon::prelude::*;

use super::event::Event;
use super::pool::Notice;
use super::shared::Shared;

/// How long rows are computed on the action's own thread before the other threads are called in: waking them costs more
/// than the few rows of a small run unit, of which there are many at once anyway.
const ALONE: Duration = Duration::from_micros(500);

/// The context of one action.
pub struct ActionContext<'a> {
    /// What all threads share.
    pub shared: &'a Shared,
    /// The action's step.
    pub step: Step,
    /// The action's label.
    pub label: &'a str,
    /// Whether a system under test may be asked.
    pub ask: bool,
    slots: Mutex<Vec<Digest>>,
    failed: AtomicU64,
}

/// Why a batch stopped before its end.
enum Halt {
    Interrupted,
    Store(StoreError),
}

impl<'a> ActionContext<'a> {
    /// The context of the action `label`.
    pub fn new(shared: &'a Shared, step: Step, label: &'a str) -> Self {
        ActionContext { shared, step, label, ask: true, slots: Mutex::default(), failed: AtomicU64::new(0) }
    }

    /// The row slots that were used.
    pub fn slots(&self) -> Vec<Digest> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The rows that failed here, not upstream.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn error(&self, kind: StageErrorKind) -> StageError {
        StageError { step: self.step, kind }
    }

    fn row_done(&self, item: &str, attempts: u32, paid: bool) {
        self.shared.rows_computed.fetch_add(1, Ordering::Relaxed);
        self.shared.events.event(&Event::RowDone {
            step: self.step,
            label: self.label.to_string(),
            item: item.to_string(),
            attempts,
            paid,
        });
    }

    fn row_failed(&self, item: &str, error: &RowError) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.shared.rows_failed.fetch_add(1, Ordering::Relaxed);
        self.shared.events.event(&Event::RowFailed {
            step: self.step,
            label: self.label.to_string(),
            item: item.to_string(),
            error: error.clone(),
        });
    }

    /// One row. A panic on it is a failure of its item, not of the run.
    fn compute(&self, item: &str, index: usize, call: &Call, compute: &ComputeRow<'_>) -> Result<Row, RowError> {
        let kind = match self.step.stage() {
            Stage::Query => RowErrorKind::BadReply,
            Stage::Score => RowErrorKind::Evaluator,
            _ => RowErrorKind::Document,
        };
        let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compute(index, call)));
        computed
            .unwrap_or_else(|_| Err(RowError::new(kind, format!("{item}: the code that reads it broke down on it"))))
    }

    fn on_cpu(
        &self,
        slot: &RowSlot,
        batch: &RowBatch<'_>,
        missing: &[usize],
        compute: &ComputeRow<'_>,
    ) -> Result<Vec<RowOutcome>, Halt> {
        let one = |&index: &usize| {
            if self.shared.interrupt.asked() {
                return Err(Halt::Interrupted);
            }
            let item = &batch.items[index];
            let call = Call { timeout: Duration::MAX, attempt: 1 };
            match self.compute(item.label, index, &call, compute) {
                Ok(row) => {
                    // Not flushed to the device: what a loss of power takes with it is computed again, for nothing.
                    let row = slot.append(item.key, row, Durability::Free).map_err(Halt::Store)?;
                    self.row_done(item.label, 1, false);
                    Ok(RowOutcome::Done(row))
                }
                Err(error) => {
                    self.row_failed(item.label, &error);
                    Ok(RowOutcome::Failed(error))
                }
            }
        };
        let start = Instant::now();
        let mut rest = missing.iter();
        let mut outcomes = Vec::with_capacity(missing.len());
        while start.elapsed() < ALONE
            && let Some(index) = rest.next()
        {
            outcomes.push(one(index)?);
        }
        let rest = rest.as_slice();
        if !rest.is_empty() {
            let others = self.shared.threads.install(|| rest.par_iter().map(one).collect::<Result<Vec<_>, _>>())?;
            outcomes.extend(others);
        }
        Ok(outcomes)
    }

    fn in_calls(
        &self,
        slot: &RowSlot,
        slot_key: Digest,
        batch: &RowBatch<'_>,
        missing: &[usize],
        compute: &ComputeRow<'_>,
    ) -> Result<Vec<RowOutcome>, Halt> {
        let pool = &self.shared.queries;
        let next = AtomicUsize::new(0);
        let halted = AtomicBool::new(false);
        let halt: Mutex<Option<Halt>> = Mutex::new(None);
        let outcomes: Vec<Mutex<Option<RowOutcome>>> = missing.iter().map(|_| Mutex::new(None)).collect();
        let stop = |why: Halt| {
            halted.store(true, Ordering::SeqCst);
            let mut halt = halt.lock().unwrap_or_else(PoisonError::into_inner);
            halt.get_or_insert(why);
        };
        let work = || {
            loop {
                let position = next.fetch_add(1, Ordering::SeqCst);
                if position >= missing.len() || halted.load(Ordering::SeqCst) {
                    return;
                }
                let item = &batch.items[missing[position]];
                // Another action may be paying for the same row at this moment.
                let _claim = self.shared.claims.take(slot_key, item.key);
                if let Some(row) = slot.get(&item.key) {
                    *outcomes[position].lock().unwrap_or_else(PoisonError::into_inner) = Some(RowOutcome::Done(row));
                    continue;
                }
                let attempts = AtomicUsize::new(1);
                // Written while the call still has its place in the pool, so that a killed run loses no more replies than
                // there are places; the flush to the device needs none.
                let written = Mutex::new(None);
                let make = |call: &Call| {
                    attempts.store(call.attempt as usize, Ordering::Relaxed);
                    let row = self.compute(item.label, missing[position], call, compute)?;
                    let kept = slot.write_row(item.key, row);
                    if kept.is_err() {
                        // What cannot be kept must not be paid for, here or in any other action.
                        pool.halt();
                    }
                    *written.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
                    Ok(())
                };
                let notice = |notice: Notice<'_>| self.notice(item.label, notice);
                let outcome = match pool.call(&make, &notice) {
                    None => return stop(Halt::Interrupted),
                    Some(Ok(())) => {
                        let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
                        match written.map(|written| written.and_then(|row| slot.commit(row))) {
                            Some(Ok(row)) => {
                                self.row_done(item.label, attempts.load(Ordering::Relaxed) as u32, true);
                                RowOutcome::Done(row)
                            }
                            Some(Err(error)) => {
                                pool.halt();
                                return stop(Halt::Store(error));
                            }
                            None => return stop(Halt::Interrupted),
                        }
                    }
                    Some(Err(error)) => {
                        self.row_failed(item.label, &error);
                        RowOutcome::Failed(error)
                    }
                };
                *outcomes[position].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            }
        };
        // Twice as many threads as calls: while the rows of some are flushed, others call.
        std::thread::scope(|scope| {
            for _ in 1..(2 * pool.concurrency()).min(missing.len()) {
                scope.spawn(work);
            }
            work();
        });
        if let Some(halt) = halt.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(halt);
        }
        outcomes
            .into_iter()
            .map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or(Halt::Interrupted))
            .collect()
    }

    fn notice(&self, item: &str, notice: Notice<'_>) {
        let event = match notice {
            Notice::Retry { attempt, wait, error } => Event::RowRetried {
                step: self.step,
                label: self.label.to_string(),
                item: item.to_string(),
                attempt,
                wait_ms: wait.as_millis() as u64,
                error: error.clone(),
            },
            Notice::Closed(closed) if closed.refused => {
                Event::PoolStopped { pool: "queries".to_string(), error: closed.error.clone() }
            }
            Notice::Closed(closed) => Event::BreakerOpened { pool: "queries".to_string(), error: closed.error.clone() },
        };
        self.shared.events.event(&event);
    }
}

impl Context for ActionContext<'_> {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        self.shared.store.cas().get(digest).map_err(|error| self.error(StageErrorKind::Store(error)))
    }

    fn value(&self, digest: &Digest, kind: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        self.shared.decoded.value(digest, kind, make)
    }

    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        let Some(path) = self.shared.sources.path(digest) else {
            return Ok(None);
        };
        let input = |message: String| {
            let error = InputError::new(Place::file(&path), message).hint("run the same command again");
            self.error(StageErrorKind::Input(vec![error]))
        };
        match std::fs::read(&path) {
            Ok(bytes) if Digest::of(&bytes) == *digest => Ok(Some(bytes)),
            Ok(_) => Err(input("changed while it was being read".to_string())),
            Err(error) => Err(input(format!("cannot be read: {error}"))),
        }
    }

    fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let store_error = |error| self.error(StageErrorKind::Store(error));
        let slot_key = key_of(batch.slot);
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).push(slot_key);
        let slot = self.shared.store.rows().slot(&slot_key, &|| Manifest::of(batch.slot)).map_err(store_error)?;
        let mut outcomes: Vec<Option<RowOutcome>> = Vec::with_capacity(batch.items.len());
        // Items with one key are one row: it is computed once, whoever asks for it.
        let mut first_of: HashMap<Digest, usize> = HashMap::new();
        let mut missing = Vec::new();
        for (index, item) in batch.items.iter().enumerate() {
            let found = slot.get(&item.key).map(RowOutcome::Done);
            if found.is_none() && !first_of.contains_key(&item.key) {
                first_of.insert(item.key, missing.len());
                missing.push(index);
            }
            outcomes.push(found);
        }
        self.shared.events.event(&Event::RowsPlanned {
            step: self.step,
            label: self.label.to_string(),
            total: batch.items.len(),
            cached: outcomes.iter().filter(|outcome| outcome.is_some()).count(),
        });
        if batch.pool == Pool::Queries && !self.ask && !missing.is_empty() {
            return Err(self.error(StageErrorKind::Unasked(missing.len())));
        }
        let computed = if missing.is_empty() {
            Ok(Vec::new())
        } else {
            match batch.pool {
                Pool::Cpu => self.on_cpu(&slot, &batch, &missing, compute),
                Pool::Queries => self.in_calls(&slot, slot_key, &batch, &missing, compute),
            }
        };
        let computed = computed.map_err(|halt| match halt {
            Halt::Interrupted => self.error(StageErrorKind::Cancelled),
            Halt::Store(error) => store_error(error),
        })?;
        batch
            .items
            .iter()
            .zip(outcomes)
            .map(|(item, found)| match (found, first_of.get(&item.key)) {
                (Some(outcome), _) => Ok(outcome),
                (None, Some(&position)) => Ok(computed[position].clone()),
                (None, None) => Err(self.error(StageErrorKind::Cancelled)),
            })
            .collect()
    }
}
