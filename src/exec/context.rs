//! What a running action is lent: blobs, source files, and rows that are computed, journaled and kept.

use std::any::TypeId;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ragstage_cache::key::key_of;
use ragstage_cache::rows::{Durability, RowSlot};
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::{
    Call, ComputeGroup, ComputeRow, ComputeTogether, Context, Decoded, MakeValue, Meter, Row, RowBatch, RowOutcome,
};
use ragstage_stages::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::step::{Stage, Step};
use rayon::prelude::*;

use super::calls::Calls;
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
    /// Files that must not be written to while it calls.
    pub watched: &'a [PathBuf],
    slots: Mutex<Vec<Digest>>,
    failed: AtomicU64,
}

/// Why a batch stopped before its end.
pub(super) enum Halt {
    Interrupted,
    Store(StoreError),
    /// A file that the replies depend on was written to meanwhile.
    Touched(PathBuf),
}

impl<'a> ActionContext<'a> {
    /// The context of the action `label`.
    pub fn new(shared: &'a Shared, step: Step, label: &'a str) -> Self {
        ActionContext {
            shared,
            step,
            label,
            ask: true,
            watched: &[],
            slots: Mutex::default(),
            failed: AtomicU64::new(0),
        }
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

    pub(super) fn row_done(&self, item: &str, attempts: u32, paid: bool) {
        self.shared.rows_computed.fetch_add(1, Ordering::Relaxed);
        self.shared.events.event(&Event::RowDone {
            step: self.step,
            label: self.label.to_string(),
            item: item.to_string(),
            attempts,
            paid,
        });
    }

    pub(super) fn row_failed(&self, item: &str, error: &RowError) {
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
    pub(super) fn compute(
        &self,
        item: &str,
        index: usize,
        call: &Call,
        compute: &ComputeRow<'_>,
    ) -> Result<Row, RowError> {
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
            let call = Call { timeout: Duration::MAX, attempt: 1, meter: Meter::default() };
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

    pub(super) fn notice(&self, item: &str, notice: Notice<'_>) {
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

    fn blob_file(&self, digest: &Digest) -> Result<PathBuf, StageError> {
        self.shared.store.cas().file(digest).map_err(|error| self.error(StageErrorKind::Store(error)))
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
        let found = self.look_up(&batch)?;
        let computed = if found.missing.is_empty() {
            Ok(Vec::new())
        } else if batch.pool.calls() {
            Calls::new(self, &found.slot, found.slot_key, batch.items, &found.missing, compute).run()
        } else {
            self.on_cpu(&found.slot, &batch, &found.missing, compute)
        };
        self.combine(&batch, found, computed)
    }

    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        _size: usize,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        self.rows(batch, &|index, call| {
            let lost = || RowError::new(RowErrorKind::BadReply, "the row was not computed");
            compute(&[index], call)?.pop().unwrap_or_else(|| Err(lost()))
        })
    }

    fn rows_together(&self, batch: RowBatch<'_>, compute: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let found = self.look_up(&batch)?;
        let rows = if found.missing.is_empty() { Vec::new() } else { compute(&found.missing)? };
        let mut rows = rows.into_iter();
        let computed = found
            .missing
            .iter()
            .map(|&index| {
                let label = batch.items[index].label;
                let lost = || RowError::new(RowErrorKind::BadReply, "the row was not computed");
                match rows.next().unwrap_or_else(|| Err(lost())) {
                    Ok(row) => {
                        let row =
                            found.slot.append(batch.items[index].key, row, Durability::Free).map_err(Halt::Store)?;
                        self.row_done(label, 1, false);
                        Ok(RowOutcome::Done(row))
                    }
                    Err(error) => {
                        self.row_failed(label, &error);
                        Ok(RowOutcome::Failed(error))
                    }
                }
            })
            .collect();
        self.combine(&batch, found, computed)
    }
}

/// What of a batch is there already.
struct Found {
    slot: Arc<RowSlot>,
    slot_key: Digest,
    outcomes: Vec<Option<RowOutcome>>,
    /// Of each missing row, its position in `missing`.
    first_of: HashMap<Digest, usize>,
    missing: Vec<usize>,
}

impl ActionContext<'_> {
    fn look_up(&self, batch: &RowBatch<'_>) -> Result<Found, StageError> {
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
        if batch.pool.calls() && !self.ask && !missing.is_empty() {
            return Err(self.error(StageErrorKind::Unasked(missing.len())));
        }
        Ok(Found { slot, slot_key, outcomes, first_of, missing })
    }

    fn combine(
        &self,
        batch: &RowBatch<'_>,
        found: Found,
        computed: Result<Vec<RowOutcome>, Halt>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        let computed = computed.map_err(|halt| match halt {
            Halt::Interrupted => self.error(StageErrorKind::Cancelled),
            Halt::Store(error) => self.error(StageErrorKind::Store(error)),
            Halt::Touched(path) => {
                let message = "was written to while the system that it belongs to was being asked; replies from then on were \
                               not kept";
                let error = InputError::new(Place::file(path), message)
                    .hint("run the same command again; files that the system writes itself do not belong in `system.files`");
                self.error(StageErrorKind::Input(vec![error]))
            }
        })?;
        batch
            .items
            .iter()
            .zip(found.outcomes)
            .map(|(item, known)| match (known, found.first_of.get(&item.key)) {
                (Some(outcome), _) => Ok(outcome),
                (None, Some(&position)) => Ok(computed[position].clone()),
                (None, None) => Err(self.error(StageErrorKind::Cancelled)),
            })
            .collect()
    }
}
