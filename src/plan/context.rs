//! What a planned action is lent: blobs, until it asks for rows.

use std::any::TypeId;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_cache::table_file::TableSource;
use ragstage_stages::contract::{
    ComputeGroup, ComputeRow, ComputeTogether, Context, Decoded, MakeValue, OwnRow, Pool, RowBatch, RowOutcome, Spend,
};
use ragstage_stages::error::{StageError, StageErrorKind};
use ragstage_stages::step::Step;

use super::calls::CallsToCome;
use super::overlay::Overlay;
use super::planner::Planner;
use super::rows::{RowFact, RowPlace, RowsToCome};
use crate::exec::{RecordedAction, Shared};

/// Lends an action blobs, and stops it when it asks for rows.
pub(super) struct PlanContext<'a> {
    shared: &'a Shared,
    overlay: &'a Overlay,
    step: Step,
    watch: Option<&'a str>,
    /// Whether the rows of an action may ask models: then what they ask first is counted too.
    asks: bool,
    previous: Option<&'a RecordedAction>,
    nested: AtomicBool,
    /// The rows, by slot and key, that an action before this one is to call for: they will be there.
    called: &'a Mutex<HashSet<(Digest, Digest)>>,
    pub(super) rows: Mutex<Option<RowsToCome>>,
    pub(super) calls: Mutex<Vec<CallsToCome>>,
    pub(super) watched: Mutex<Vec<RowFact>>,
}

impl<'a> PlanContext<'a> {
    /// For an action of `step` that may call `pools` and ran before as `previous`; `watch` is the item that is asked about.
    pub(super) fn new(
        planner: &'a Planner<'_>,
        step: Step,
        pools: &BTreeSet<Pool>,
        previous: Option<&'a RecordedAction>,
        watch: Option<&'a str>,
    ) -> Self {
        PlanContext {
            shared: &planner.shared,
            overlay: &planner.overlay,
            step,
            watch,
            asks: watch.is_none() && !pools.is_empty(),
            previous,
            nested: AtomicBool::new(false),
            called: &planner.called,
            rows: Mutex::new(None),
            calls: Mutex::default(),
            watched: Mutex::default(),
        }
    }
}

impl Context for PlanContext<'_> {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        match self.overlay.get(digest) {
            Some(bytes) => Ok(bytes),
            None => self.shared.store.cas().get(digest).map_err(|error| StageError::store(self.step, error)),
        }
    }

    fn value(&self, digest: &Digest, kind: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        self.shared.decoded.value(digest, kind, make)
    }

    fn blob_file(&self, digest: &Digest) -> Result<PathBuf, StageError> {
        // Not verified: that would read what is mapped so as not to be read, and a run does it.
        let path = self.shared.store.cas().path(digest);
        match path.is_file() {
            true => Ok(path),
            false => Err(self.stopped()),
        }
    }

    fn previous(&self, name: &str) -> Option<TableSource> {
        let path = self.shared.store.cas().path(self.previous?.outputs.get(name)?);
        path.is_file().then_some(TableSource::File(path))
    }

    fn own_rows(&self, slot: &Digest, rows: &[OwnRow<'_>]) -> bool {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows.iter().filter(|row| self.watch == Some(row.label)) {
            let place = RowPlace { slot: *slot, key: row.key, cached: row.reused };
            watched.push(RowFact { item: row.label.to_string(), place: Some(place) });
        }
        let mut counts = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = counts.get_or_insert(RowsToCome { total: 0, missing: 0, calls: false });
        counts.total += rows.len() as u64;
        counts.missing += rows.iter().filter(|row| !row.reused).count() as u64;
        false
    }

    fn may_start_programs(&self) -> Result<(), StageError> {
        Err(self.stopped())
    }

    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(self.shared.sources.path(digest).and_then(|path| std::fs::read(path).ok()))
    }

    fn rows(&self, batch: RowBatch<'_>, _: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        self.count(&batch, 1)?;
        Err(self.stopped())
    }

    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        size: usize,
        _: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        self.count(&batch, size)?;
        Err(self.stopped())
    }

    fn rows_together(&self, batch: RowBatch<'_>, compute: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let missing = self.count(&batch, 1)?;
        if self.asks && !missing.is_empty() && !self.nested.swap(true, Ordering::Relaxed) {
            // It comes as far as the first rows that it asks for, whose calls are then known.
            let _ = compute(&missing);
        }
        Err(self.stopped())
    }
}

impl PlanContext<'_> {
    /// The end of a planned action: it has said what it needs.
    fn stopped(&self) -> StageError {
        StageError { step: self.step, kind: StageErrorKind::Cancelled }
    }

    /// Counts the rows of a batch. Gives the positions of the missing ones, each row once.
    fn count(&self, batch: &RowBatch<'_>, size: usize) -> Result<Vec<usize>, StageError> {
        let slot = key_of(batch.slot);
        let peek = |keys: &[Digest]| {
            self.shared.store.rows().peek(&slot, keys).map_err(|error| StageError::store(self.step, error))
        };
        for item in batch.items.iter().filter(|item| self.watch == Some(item.label)) {
            let place = RowPlace { slot, key: item.key, cached: peek(&[item.key])? == [true] };
            let fact = RowFact { item: item.label.to_string(), place: Some(place) };
            self.watched.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
        }
        let keys: Vec<Digest> = batch.items.iter().map(|item| item.key).collect();
        let cached = peek(&keys)?;
        let mut seen = HashSet::new();
        let new = keys.iter().zip(cached).map(|(key, cached)| !cached && seen.insert(*key));
        let missing: Vec<usize> = new.enumerate().filter(|(_, new)| *new).map(|(index, _)| index).collect();
        if batch.pool.calls() {
            let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
            let asked: Vec<usize> = missing
                .iter()
                .copied()
                .filter(|&index| keys.get(index).is_some_and(|key| called.insert((slot, *key))))
                .collect();
            drop(called);
            let estimate = |sum: Spend, &index: &usize| sum.plus(batch.cost.estimate(index));
            let spend = asked.iter().fold(Spend::default(), estimate);
            let calls = CallsToCome {
                pool: batch.pool,
                calls: asked.len().div_ceil(size.max(1)) as u64,
                // A program is asked for all that it scores at once, and for nothing more.
                at_least: self.nested.load(Ordering::Relaxed) && batch.pool != Pool::Programs,
                // What a system under test or an evaluator of the user's takes is known to it alone.
                spend: (!matches!(batch.pool, Pool::Queries | Pool::Ingest | Pool::Programs)).then_some(spend),
            };
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(calls);
        }
        let rows = RowsToCome { total: keys.len() as u64, missing: missing.len() as u64, calls: batch.pool.calls() };
        // Of rows that ask for rows, the outermost are the action's.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(rows);
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ragstage_cache::rows::Durability;
    use ragstage_cache::{KeyVisitor, Manifest, Walk};
    use ragstage_stages::contract::{Cost, Row, RowItem};

    use super::*;
    use crate::batch::{Batch, Settings};
    use crate::exec::{Fanout, Interrupt};

    struct Slot(&'static str);

    impl Walk for Slot {
        fn walk(&self, v: &mut dyn KeyVisitor) {
            v.begin_record("", self.0);
            v.end();
        }
    }

    /// Item `i` may cost `i + 1`.
    struct Rising;

    impl Cost for Rising {
        fn estimate(&self, item: usize) -> Spend {
            Spend { tokens: 10 * (item as u64 + 1), nano_usd: item as u64 + 1 }
        }

        fn of(&self, _: &Row) -> Spend {
            Spend::default()
        }
    }

    #[test]
    fn the_missing_rows_are_calls_of_a_size_and_a_cost() {
        let folder = tempfile::tempdir().unwrap();
        let events = Arc::new(Fanout::default());
        let batch = Batch::open(Vec::new(), Settings::default(), folder.path(), events, Interrupt::default()).unwrap();
        let slot = batch.shared.store.rows().slot(&key_of(&Slot("texts")), &|| Manifest::of(&Slot("texts"))).unwrap();
        let labels = ["a", "b", "a", "c", "d", "e"];
        let items = labels.map(|label| RowItem { key: Digest::of(label.as_bytes()), label });
        slot.append(items[1].key, Row { value: vec![1], observation: vec![] }, Durability::Free).unwrap();
        let pools = BTreeSet::from([Pool::Embeddings]);
        let planner = batch.planner();

        let context = PlanContext::new(&planner, Step::Embed, &pools, None, None);
        let texts = || RowBatch { slot: &Slot("texts"), pool: Pool::Embeddings, items: &items, cost: &Rising };
        assert!(context.rows_in_groups(texts(), 3, &|_, _| unreachable!("nothing is computed")).is_err());
        // `a`, `c`, `d` and `e`, the items 0, 3, 4 and 5, in groups of three.
        let calls = |at_least| CallsToCome {
            pool: Pool::Embeddings,
            calls: 2,
            at_least,
            spend: Some(Spend { tokens: 160, nano_usd: 16 }),
        };
        assert_eq!(context.calls.into_inner().unwrap(), [calls(false)]);
        let rows = context.rows.into_inner().unwrap();
        assert_eq!(rows, Some(RowsToCome { total: 6, missing: 4, calls: true }));

        // The same rows are not called for twice.
        let context = PlanContext::new(&planner, Step::Embed, &pools, None, None);
        assert!(context.rows_in_groups(texts(), 3, &|_, _| unreachable!("nothing is computed")).is_err());
        assert_eq!(context.calls.into_inner().unwrap()[0].calls, 0);
        let planner = batch.planner();

        // Cases that ask for texts: how often they ask is known only when they have asked once.
        let context = PlanContext::new(&planner, Step::Retrieve, &pools, None, None);
        let cases = RowBatch { slot: &Slot("cases"), pool: Pool::Cpu, items: &items[..2], cost: &Rising };
        let planned = context.rows_together(cases, &|missing| {
            assert_eq!(missing, [0, 1]);
            context.rows_in_groups(texts(), 3, &|_, _| unreachable!("nothing is computed"))?;
            unreachable!("a plan knows no replies")
        });
        assert!(planned.is_err());
        assert_eq!(context.calls.into_inner().unwrap(), [calls(true)]);
        let rows = context.rows.into_inner().unwrap();
        assert_eq!(rows, Some(RowsToCome { total: 2, missing: 2, calls: false }));
    }
}
