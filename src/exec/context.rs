//! What a running action is lent: blobs, source files, and rows that are computed, journaled and kept.

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::key::key_of;
use ragstage_cache::rows::RowSlot;
use ragstage_cache::table_file::TableSource;
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::{
    Call, Check, ComputeGroup, ComputeRow, ComputeTogether, Context, Cost, Decoded, MakeValue, OnePart, OwnRow, Pool,
    Row, RowBatch, RowItem, RowOutcome, Spend,
};
use ragstage_stages::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::step::{Stage, Step};

use rayon::prelude::*;

use super::calls::Calls;
use super::event::Event;
use super::permits::Permit;
use super::pool::{Expected, Notice};
use super::shared::Shared;

/// So many rows that an action keeps itself are told one by one when they are computed at once.
const NAMED_ROWS: usize = 64;

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
    /// The outputs of the action's last run, by name.
    pub previous: Option<&'a BTreeMap<String, Digest>>,
    slots: Mutex<Vec<Digest>>,
    failed: AtomicU64,
    /// The right to compute; returned while calls of somebody else are waited for.
    permit: Mutex<Option<Permit<'a>>>,
    /// How many batches ask for the rows of the batch at hand.
    depth: AtomicUsize,
    costs: Mutex<Costs>,
}

/// What the rows of an action have cost.
#[derive(Default)]
struct Costs {
    /// The rows that were counted, by slot and key: what is asked for twice is paid for once.
    counted: HashSet<(Digest, Digest)>,
    sum: Spend,
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
            previous: None,
            slots: Mutex::default(),
            failed: AtomicU64::new(0),
            permit: Mutex::default(),
            depth: AtomicUsize::new(0),
            costs: Mutex::default(),
        }
    }

    /// Gives the action the right to compute.
    pub(super) fn hold(&self, permit: Option<Permit<'a>>) {
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }

    /// Takes the right to compute back.
    pub(super) fn release(&self) {
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// What the rows of the action have cost, in this run or an earlier one.
    pub fn spend(&self) -> Spend {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner).sum
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

    /// Whether the rows at hand are for the sake of other rows, which are what people count.
    fn nested(&self) -> bool {
        self.depth.load(Ordering::Relaxed) > 0
    }

    pub(super) fn row_done(&self, item: &str, attempts: u32, paid: bool) {
        let nested = self.nested();
        if !nested {
            self.shared.rows_computed.fetch_add(1, Ordering::Relaxed);
        }
        self.shared.events.event(&Event::RowDone {
            step: self.step,
            label: self.label.to_string(),
            item: item.to_string(),
            attempts,
            paid,
            nested,
        });
    }

    pub(super) fn row_failed(&self, item: &str, error: &RowError) {
        let nested = self.nested();
        if !nested {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.shared.rows_failed.fetch_add(1, Ordering::Relaxed);
        }
        self.shared.events.event(&Event::RowFailed {
            step: self.step,
            label: self.label.to_string(),
            item: item.to_string(),
            error: error.clone(),
            nested,
        });
    }

    /// Counts a row that was computed for money.
    pub(super) fn paid_row(&self, found: &Found, key: Digest, cost: &dyn Cost, row: &Row) {
        self.count(found, key, cost.of(row));
    }

    /// Counts a row that was there already.
    pub(super) fn found_row(&self, found: &Found, key: Digest, cost: &dyn Cost, row: &Row) {
        let spend = cost.of(row);
        if self.count(found, key, spend) {
            self.shared.ledger.save(spend);
        }
    }

    /// Whether the row had not been counted before, and is worth it.
    fn count(&self, found: &Found, key: Digest, spend: Spend) -> bool {
        if spend == Spend::default() {
            return false;
        }
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let new = costs.counted.insert((found.slot_key, key));
        if new {
            costs.sum = costs.sum.plus(spend);
        }
        new
    }

    /// What a panic on `item` is to its row: a failure of that item, not of the run.
    pub(super) fn broke_down(&self, pool: Pool, item: &str) -> RowError {
        let kind = match self.step.stage() {
            Stage::Query => RowErrorKind::BadReply,
            Stage::Score => RowErrorKind::Evaluator,
            _ if pool.calls() => RowErrorKind::BadReply,
            _ => RowErrorKind::Document,
        };
        RowError::new(kind, format!("{item}: the code that reads it broke down on it"))
    }

    /// Several rows: one outcome for each of `indexes`, or an error of all of them.
    pub(super) fn compute_group(
        &self,
        batch: Wanted<'_>,
        indexes: &[usize],
        call: &Call,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<Result<Row, RowError>>, RowError> {
        let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compute(indexes, call)));
        let mut rows = computed.unwrap_or_else(|_| {
            let first = indexes.first().and_then(|&index| batch.items.get(index));
            Err(self.broke_down(batch.pool, first.map_or("", |item| item.label)))
        })?;
        rows.resize_with(indexes.len(), || Err(not_computed()));
        Ok(rows)
    }

    /// Waits for calls of somebody else, and lets others compute meanwhile.
    fn waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        let held = self.permit.lock().unwrap_or_else(PoisonError::into_inner).take();
        let computes = held.is_some();
        drop(held);
        let done = wait();
        if computes {
            self.hold(Some(self.shared.computing.take()));
        }
        done
    }

    pub(super) fn notice(&self, pool: Pool, item: &str, notice: Notice<'_>) {
        let pool = pool.name().to_string();
        let event = match notice {
            Notice::Retry { attempt, wait, error } => Event::RowRetried {
                step: self.step,
                label: self.label.to_string(),
                item: item.to_string(),
                attempt,
                wait_ms: wait.as_millis() as u64,
                error: error.clone(),
            },
            Notice::Closed(closed) if closed.refused => Event::PoolStopped { pool, error: closed.error.clone() },
            Notice::Closed(closed) => Event::BreakerOpened { pool, error: closed.error.clone() },
            Notice::OverBudget(error) => Event::BudgetReached { pool, error: error.clone() },
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

    fn kept(&self, digest: &Digest, kind: TypeId) -> Option<Decoded> {
        self.shared.decoded.kept(digest, kind)
    }

    fn blob_file(&self, digest: &Digest) -> Result<PathBuf, StageError> {
        self.shared.store.cas().file(digest).map_err(|error| self.error(StageErrorKind::Store(error)))
    }

    fn table(&self, digest: &Digest) -> Result<TableSource, StageError> {
        self.blob_file(digest).map(TableSource::File)
    }

    fn previous(&self, name: &str) -> Option<TableSource> {
        // Lost or damaged, it is of no use, and nobody asks for it again.
        self.shared.store.cas().file(self.previous?.get(name)?).ok().map(TableSource::File)
    }

    fn spread(&self, parts: usize, one: &OnePart<'_>) -> Result<(), StageError> {
        let one = |part| match self.shared.interrupt.asked() {
            true => Err(self.error(StageErrorKind::Cancelled)),
            false => one(part),
        };
        match parts {
            0 | 1 => (0..parts).try_for_each(one),
            _ => self.shared.threads.install(|| (0..parts).into_par_iter().try_for_each(one)),
        }
    }

    fn own_rows(&self, _: &Digest, rows: &[OwnRow<'_>]) -> bool {
        self.shared.events.event(&Event::RowsPlanned {
            step: self.step,
            label: self.label.to_string(),
            total: rows.len(),
            cached: rows.iter().filter(|row| row.reused).count(),
            nested: false,
        });
        true
    }

    fn own_rows_done(&self, computed: &[&str], failed: &[(&str, &RowError)]) {
        if computed.len() <= NAMED_ROWS {
            computed.iter().for_each(|label| self.row_done(label, 1, false));
        } else {
            self.shared.rows_computed.fetch_add(computed.len(), Ordering::Relaxed);
            let (step, label, rows) = (self.step, self.label.to_string(), computed.len());
            self.shared.events.event(&Event::RowsDone { step, label, rows });
        }
        failed.iter().for_each(|(label, error)| self.row_failed(label, error));
    }

    fn may_start_programs(&self) -> Result<(), StageError> {
        match self.shared.interrupt.asked() {
            true => Err(self.error(StageErrorKind::Cancelled)),
            false => Ok(()),
        }
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
        let wanted = Wanted::of(&batch);
        let computed = if found.missing.is_empty() {
            Ok(Vec::new())
        } else if let Some(pool) = self.shared.pools.of(batch.pool) {
            let one = |indexes: &[usize], call: &Call| indexes.iter().map(|&index| Ok(compute(index, call))).collect();
            self.waiting(|| Calls::new(self, pool, wanted, &found, 1, &one).run())
        } else {
            self.rows_on_cpu(wanted, &found, compute)
        };
        self.combine(&batch, found, computed)
    }

    fn check_before(&self, batch: &RowBatch<'_>, check: &Check<'_>) -> Result<Result<(), RowError>, StageError> {
        let missing = self.missing(batch)?;
        if missing == 0 {
            return Ok(Ok(()));
        }
        if !self.ask {
            return Err(self.error(StageErrorKind::Unasked(missing)));
        }
        let Some(pool) = self.shared.pools.of(batch.pool) else {
            return Ok(Ok(()));
        };
        let checked = if batch.pool == Pool::Programs { "the program" } else { "the knowledge base" };
        let notice = |notice: Notice<'_>| self.notice(batch.pool, checked, notice);
        match self.waiting(|| pool.call(Expected::default(), &|call| check(call), &notice)) {
            Some(checked) => Ok(checked),
            None => Err(self.error(StageErrorKind::Cancelled)),
        }
    }

    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        size: usize,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        let found = self.look_up(&batch)?;
        let wanted = Wanted::of(&batch);
        let computed = if found.missing.is_empty() {
            Ok(Vec::new())
        } else if let Some(pool) = self.shared.pools.of(batch.pool) {
            self.waiting(|| Calls::new(self, pool, wanted, &found, size, compute).run())
        } else {
            self.groups_on_cpu(wanted, &found, size, compute)
        };
        self.combine(&batch, found, computed)
    }

    fn rows_together(&self, batch: RowBatch<'_>, compute: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let found = self.look_up(&batch)?;
        let wanted = Wanted::of(&batch);
        let rows = if found.missing.is_empty() {
            Vec::new()
        } else {
            self.depth.fetch_add(1, Ordering::Relaxed);
            let rows = compute(&found.missing);
            self.depth.fetch_sub(1, Ordering::Relaxed);
            rows?
        };
        let mut rows = rows.into_iter();
        let next =
            |&index: &usize| self.keep_free(wanted, &found, index, rows.next().unwrap_or_else(|| Err(not_computed())));
        let computed = found.missing.iter().map(next).collect();
        self.combine(&batch, found, computed)
    }
}

pub(super) fn not_computed() -> RowError {
    RowError::new(RowErrorKind::BadReply, "the row was not computed")
}

/// What of a batch the threads that compute it need to know.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) pool: Pool,
    pub(super) items: &'a [RowItem<'a>],
    pub(super) cost: &'a dyn Cost,
}

impl<'a> Wanted<'a> {
    fn of(batch: &RowBatch<'a>) -> Self {
        Wanted { pool: batch.pool, items: batch.items, cost: batch.cost }
    }
}

/// What of a batch is there already.
pub(super) struct Found {
    pub(super) slot: Arc<RowSlot>,
    pub(super) slot_key: Digest,
    outcomes: Vec<Option<RowOutcome>>,
    /// Of each missing row, its position in `missing`.
    first_of: HashMap<Digest, usize>,
    pub(super) missing: Vec<usize>,
}

impl ActionContext<'_> {
    /// How many of a batch's rows are not in the row cache.
    fn missing(&self, batch: &RowBatch<'_>) -> Result<usize, StageError> {
        let slot_key = key_of(batch.slot);
        let slot = self.shared.store.rows().slot(&slot_key, &|| Manifest::of(batch.slot));
        let slot = slot.map_err(|error| self.error(StageErrorKind::Store(error)))?;
        Ok(batch.items.iter().filter(|item| slot.get(&item.key).is_none()).count())
    }

    fn look_up(&self, batch: &RowBatch<'_>) -> Result<Found, StageError> {
        let store_error = |error| self.error(StageErrorKind::Store(error));
        let slot_key = key_of(batch.slot);
        {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            if !slots.contains(&slot_key) {
                slots.push(slot_key);
            }
        }
        let slot = self.shared.store.rows().slot(&slot_key, &|| Manifest::of(batch.slot)).map_err(store_error)?;
        let mut found = Found {
            slot,
            slot_key,
            outcomes: Vec::with_capacity(batch.items.len()),
            first_of: HashMap::new(),
            missing: Vec::new(),
        };
        let mut cached = 0;
        for (index, item) in batch.items.iter().enumerate() {
            let row = found.slot.get(&item.key);
            match &row {
                Some(row) => {
                    cached += 1;
                    self.found_row(&found, item.key, batch.cost, row);
                }
                // Items with one key are one row: it is computed once, whoever asks for it.
                None if !found.first_of.contains_key(&item.key) => {
                    found.first_of.insert(item.key, found.missing.len());
                    found.missing.push(index);
                }
                None => {}
            }
            found.outcomes.push(row.map(RowOutcome::Done));
        }
        self.shared.events.event(&Event::RowsPlanned {
            step: self.step,
            label: self.label.to_string(),
            total: batch.items.len(),
            cached,
            nested: self.nested(),
        });
        if batch.pool.calls() && !self.ask && !found.missing.is_empty() {
            return Err(self.error(StageErrorKind::Unasked(found.missing.len())));
        }
        Ok(found)
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
                let message = "was written to while what it belongs to was being asked; replies from then on were not kept";
                let error = InputError::new(Place::file(path), message)
                    .hint("run the same command again; files that the system or evaluator writes itself do not belong in its `files`");
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
