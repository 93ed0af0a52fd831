//! Rows that are calls of somebody else: as many threads as may call, and one that sees their rows onto the device.
//!
//! A row is written to the journal while its call still has its place in the pool, so a killed run loses no more replies than
//! there are places. Flushing it to the device needs no place: the callers go on, and rows that were written meanwhile share
//! one flush. Nobody sees a row before it is flushed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};
use ragstage_cache::rows::WrittenRow;
use ragstage_stages::contract::{Call, ComputeGroup, RowItem, RowOutcome, Spend};
use ragstage_stages::error::RowError;

use super::claims::Claim;
use super::context::{ActionContext, Found, Halt, Wanted};
use super::pool::{CallPool, Expected, Notice};

/// The missing rows of one batch.
pub(super) struct Calls<'a, 'c> {
    context: &'a ActionContext<'c>,
    pool: &'a CallPool,
    batch: Wanted<'a>,
    found: &'a Found,
    /// Rows per call.
    size: usize,
    compute: &'a ComputeGroup<'a>,
    next: AtomicUsize,
    halted: AtomicBool,
    halt: Mutex<Option<Halt>>,
    outcomes: Vec<Mutex<Option<RowOutcome>>>,
}

/// A missing row, by its position among them, that is this action's to compute.
struct Claimed<'a> {
    position: usize,
    /// Held until the row can be seen, for another action may wait for it.
    claim: Claim<'a>,
}

/// A row on its way to the device.
struct Reply<'a> {
    position: usize,
    attempts: u32,
    row: WrittenRow,
    _claim: Claim<'a>,
}

/// What one call brought: of each of its rows, what was written or why it failed.
type Brought = Vec<Result<WrittenRow, RowError>>;

impl<'a, 'c> Calls<'a, 'c> {
    /// The calls of `pool` for the rows of `batch` that were not `found`, up to `size` rows in each.
    pub(super) fn new(
        context: &'a ActionContext<'c>,
        pool: &'a CallPool,
        batch: Wanted<'a>,
        found: &'a Found,
        size: usize,
        compute: &'a ComputeGroup<'a>,
    ) -> Self {
        Calls {
            context,
            pool,
            batch,
            found,
            size: size.max(1),
            compute,
            next: AtomicUsize::new(0),
            halted: AtomicBool::new(false),
            halt: Mutex::new(None),
            outcomes: found.missing.iter().map(|_| Mutex::new(None)).collect(),
        }
    }

    /// How each came out, in the order of the missing rows.
    pub(super) fn run(self) -> Result<Vec<RowOutcome>, Halt> {
        let callers = self.pool.concurrency().min(self.outcomes.len().div_ceil(self.size));
        std::thread::scope(|scope| {
            let (replies, written) = unbounded();
            scope.spawn(|| self.keep(written));
            for _ in 0..callers {
                let replies = replies.clone();
                scope.spawn(|| self.call(replies));
            }
        });
        if let Some(halt) = self.halt.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(halt);
        }
        self.outcomes
            .into_iter()
            .map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or(Halt::Interrupted))
            .collect()
    }

    fn stop(&self, why: Halt) {
        self.halted.store(true, Ordering::SeqCst);
        self.halt.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// The index in the batch, and the item, of a missing row.
    fn item(&self, position: usize) -> Option<(usize, &'a RowItem<'a>)> {
        let index = *self.found.missing.get(position)?;
        Some((index, self.batch.items.get(index)?))
    }

    /// A file of the system that was written to since its digest was taken: its reply may be another version's.
    fn touched(&self) -> Option<PathBuf> {
        let sources = &self.context.shared.sources;
        self.context.watched.iter().find(|path| sources.was_touched(path)).cloned()
    }

    fn settle(&self, position: usize, outcome: RowOutcome) {
        if let Some(place) = self.outcomes.get(position) {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        }
    }

    fn fail(&self, position: usize, error: RowError) {
        if let Some((_, item)) = self.item(position) {
            self.context.row_failed(item.label, &error);
        }
        self.settle(position, RowOutcome::Failed(error));
    }

    /// A caller: takes the next missing rows until there are none.
    fn call(&self, replies: Sender<Reply<'a>>) {
        loop {
            let start = self.next.fetch_add(1, Ordering::SeqCst) * self.size;
            if start >= self.outcomes.len() {
                return;
            }
            let end = (start + self.size).min(self.outcomes.len());
            let mut groups = vec![self.claim(start..end)];
            while let Some(group) = groups.pop() {
                if self.halted.load(Ordering::SeqCst) {
                    return;
                }
                match self.ask(group, &replies) {
                    Ok(None) => {}
                    // One bad row may be all that is wrong with it.
                    Ok(Some(mut first)) => {
                        let second = first.split_off(first.len() / 2);
                        groups.extend([second, first]);
                    }
                    Err(halt) => return self.stop(halt),
                }
            }
        }
    }

    /// Waits until nobody else computes one of the rows, and leaves out those that are there by then.
    fn claim(&self, positions: std::ops::Range<usize>) -> Vec<Claimed<'a>> {
        let mut keyed: Vec<_> = positions.filter_map(|at| Some((self.item(at)?.1.key, at))).collect();
        // Always in the order of keys: two that wait for each other's rows would wait for ever.
        keyed.sort_unstable();
        let mut claimed = Vec::with_capacity(keyed.len());
        for (key, position) in keyed {
            let claim = self.context.shared.claims.take(self.found.slot_key, key);
            match self.found.slot.get(&key) {
                Some(row) => {
                    self.context.found_row(self.found, key, self.batch.cost, &row);
                    self.settle(position, RowOutcome::Done(row));
                }
                None => claimed.push(Claimed { position, claim }),
            }
        }
        claimed.sort_unstable_by_key(|row| row.position);
        claimed
    }

    /// One call. Gives the rows back where it was refused and may be asked for in parts.
    fn ask(&self, group: Vec<Claimed<'a>>, replies: &Sender<Reply<'a>>) -> Result<Option<Vec<Claimed<'a>>>, Halt> {
        let items: Vec<_> = group.iter().filter_map(|row| self.item(row.position)).collect();
        let Some((_, first)) = items.first() else { return Ok(None) };
        let indexes: Vec<usize> = items.iter().map(|(index, _)| *index).collect();
        let estimate = |sum: Spend, index: &usize| sum.plus(self.batch.cost.estimate(*index));
        let expected =
            Expected { spend: indexes.iter().fold(Spend::default(), estimate), divisible: indexes.len() > 1 };
        let attempts = AtomicU32::new(1);
        let make = |call: &Call| -> Result<Result<Brought, Halt>, RowError> {
            attempts.store(call.attempt, Ordering::Relaxed);
            let mut rows = self.context.compute_group(self.batch, &indexes, call, self.compute)?;
            if rows.len() == 1
                && let Some(Err(error)) = rows.pop_if(|row| row.is_err())
            {
                // The fault of its only row is the fault of the call.
                return Err(error);
            }
            if let Some(touched) = self.touched() {
                self.pool.halt();
                return Ok(Err(Halt::Touched(touched)));
            }
            let mut brought = Vec::with_capacity(rows.len());
            for ((_, item), row) in items.iter().zip(rows) {
                brought.push(match row.map(|row| self.found.slot.write_row(item.key, row)) {
                    Ok(Ok(written)) => Ok(written),
                    Ok(Err(error)) => {
                        // What cannot be kept must not be paid for, here or in any other action.
                        self.context.shared.pools.halt();
                        return Ok(Err(Halt::Store(error)));
                    }
                    Err(error) => Err(RowError { attempts: call.attempt, ..error }),
                });
            }
            Ok(Ok(brought))
        };
        let name = match items.len() {
            1 => first.label.to_string(),
            more => format!("{} and {} more", first.label, more - 1),
        };
        let notice = |notice: Notice<'_>| self.context.notice(self.batch.pool, &name, notice);
        match self.pool.call(expected, &make, &notice) {
            None => Err(Halt::Interrupted),
            Some(Ok(Err(halt))) => Err(halt),
            Some(Ok(Ok(brought))) => {
                let attempts = attempts.load(Ordering::Relaxed);
                for (Claimed { position, claim }, row) in group.into_iter().zip(brought) {
                    match row {
                        // The other end goes only after all callers.
                        Ok(row) => drop(replies.send(Reply { position, attempts, row, _claim: claim })),
                        Err(error) => self.fail(position, error),
                    }
                }
                Ok(None)
            }
            Some(Err(error)) if expected.divisible && error.kind.of_the_request() => Ok(Some(group)),
            Some(Err(error)) => {
                group.iter().for_each(|row| self.fail(row.position, error.clone()));
                Ok(None)
            }
        }
    }

    /// The keeper: sees every written row onto the device, after the callers have ended too.
    fn keep(&self, written: Receiver<Reply<'a>>) {
        for Reply { position, attempts, row, _claim } in written {
            match self.found.slot.commit(row) {
                Ok(row) => {
                    if let Some((_, item)) = self.item(position) {
                        self.context.paid_row(self.found, item.key, self.batch.cost, &row);
                        self.context.row_done(item.label, attempts, true);
                    }
                    self.settle(position, RowOutcome::Done(row));
                }
                Err(error) => {
                    self.context.shared.pools.halt();
                    self.stop(Halt::Store(error));
                }
            }
        }
    }
}
