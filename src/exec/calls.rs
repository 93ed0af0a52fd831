//! Rows that are calls of somebody else: as many threads as may call, and one that sees their rows onto the device.
//!
//! A row is written to the journal while its call still has its place in the pool, so a killed run loses no more replies than
//! there are places. Flushing it to the device needs no place: the callers go on, and rows that were written meanwhile share
//! one flush. Nobody sees a row before it is flushed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};
use ragstage_cache::Digest;
use ragstage_cache::rows::{RowSlot, WrittenRow};
use ragstage_stages::contract::{Call, ComputeRow, RowItem, RowOutcome};

use super::claims::Claim;
use super::context::{ActionContext, Halt};
use super::pool::Notice;

/// The missing rows of one batch.
pub(super) struct Calls<'a> {
    context: &'a ActionContext<'a>,
    slot: &'a RowSlot,
    slot_key: Digest,
    items: &'a [RowItem<'a>],
    missing: &'a [usize],
    compute: &'a ComputeRow<'a>,
    next: AtomicUsize,
    halted: AtomicBool,
    halt: Mutex<Option<Halt>>,
    outcomes: Vec<Mutex<Option<RowOutcome>>>,
}

/// A row on its way to the device.
struct Reply<'a> {
    position: usize,
    attempts: u32,
    row: WrittenRow,
    /// Held until the row can be seen, for another action may wait for it.
    _claim: Claim<'a>,
}

impl<'a> Calls<'a> {
    /// The calls for those of `items` that are at the positions `missing`.
    pub(super) fn new(
        context: &'a ActionContext<'a>,
        slot: &'a RowSlot,
        slot_key: Digest,
        items: &'a [RowItem<'a>],
        missing: &'a [usize],
        compute: &'a ComputeRow<'a>,
    ) -> Self {
        Calls {
            context,
            slot,
            slot_key,
            items,
            missing,
            compute,
            next: AtomicUsize::new(0),
            halted: AtomicBool::new(false),
            halt: Mutex::new(None),
            outcomes: missing.iter().map(|_| Mutex::new(None)).collect(),
        }
    }

    /// How each came out, in the order of `missing`.
    pub(super) fn run(self) -> Result<Vec<RowOutcome>, Halt> {
        let callers = self.context.shared.queries.concurrency().min(self.missing.len());
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

    /// A caller: takes the next missing row until there is none.
    fn call(&self, replies: Sender<Reply<'a>>) {
        let shared = self.context.shared;
        loop {
            let position = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(&index) = self.missing.get(position) else { return };
            if self.halted.load(Ordering::SeqCst) {
                return;
            }
            let item = &self.items[index];
            // Another action may be paying for the same row at this moment.
            let claim = shared.claims.take(self.slot_key, item.key);
            if let Some(row) = self.slot.get(&item.key) {
                self.settle(position, RowOutcome::Done(row));
                continue;
            }
            let attempts = AtomicUsize::new(1);
            let make = |call: &Call| {
                attempts.store(call.attempt as usize, Ordering::Relaxed);
                let row = self.context.compute(item.label, index, call, self.compute)?;
                if let Some(touched) = self.touched() {
                    shared.queries.halt();
                    return Ok(Err(Halt::Touched(touched)));
                }
                let written = self.slot.write_row(item.key, row);
                if written.is_err() {
                    // What cannot be kept must not be paid for, here or in any other action.
                    shared.queries.halt();
                }
                Ok(written.map_err(Halt::Store))
            };
            let notice = |notice: Notice<'_>| self.context.notice(item.label, notice);
            match shared.queries.call(&make, &notice) {
                None => return self.stop(Halt::Interrupted),
                Some(Ok(Ok(row))) => {
                    let attempts = attempts.load(Ordering::Relaxed) as u32;
                    // The other end goes only after all callers.
                    let _ = replies.send(Reply { position, attempts, row, _claim: claim });
                }
                Some(Ok(Err(halt))) => return self.stop(halt),
                Some(Err(error)) => {
                    self.context.row_failed(item.label, &error);
                    self.settle(position, RowOutcome::Failed(error));
                }
            }
        }
    }

    /// The keeper: sees every written row onto the device, after the callers have ended too.
    fn keep(&self, written: Receiver<Reply<'a>>) {
        for Reply { position, attempts, row, _claim } in written {
            match self.slot.commit(row) {
                Ok(row) => {
                    if let Some(item) = self.missing.get(position).and_then(|&index| self.items.get(index)) {
                        self.context.row_done(item.label, attempts, true);
                    }
                    self.settle(position, RowOutcome::Done(row));
                }
                Err(error) => {
                    self.context.shared.queries.halt();
                    self.stop(Halt::Store(error));
                }
            }
        }
    }
}
