//! Rows that are computed here: on the action's own thread, and where that takes long on all.

use std::time::{Duration, Instant};

use ragstage_cache::rows::Durability;
use ragstage_stages::contract::{Call, ComputeGroup, ComputeRow, Meter, Pool, Row, RowOutcome};
use ragstage_stages::error::RowError;
use rayon::prelude::*;

use super::context::{ActionContext, Found, Halt, Wanted};

/// How long rows are computed on the action's own thread before the other threads are called in: waking them costs more
/// than the few rows of a small run unit, of which there are many at once anyway.
const ALONE: Duration = Duration::from_micros(500);

impl ActionContext<'_> {
    /// Rows of the CPU, one by one.
    pub(super) fn rows_on_cpu(
        &self,
        batch: Wanted<'_>,
        found: &Found,
        compute: &ComputeRow<'_>,
    ) -> Result<Vec<RowOutcome>, Halt> {
        let call = Call { timeout: Duration::MAX, attempt: 1, meter: Meter::default() };
        self.spread(&found.missing, |&index| {
            let item = &batch.items[index];
            self.keep_free(batch, found, index, self.compute(item.label, index, &call, compute))
        })
    }

    /// Rows of the CPU, in groups.
    pub(super) fn groups_on_cpu(
        &self,
        batch: Wanted<'_>,
        found: &Found,
        size: usize,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, Halt> {
        let call = Call { timeout: Duration::MAX, attempt: 1, meter: Meter::default() };
        let keys = found.missing.iter().map(|&index| batch.items[index].key);
        // Not by the threads that compute: one that waits may be what the other waits for.
        let _claims = self.shared.claims.take_all(found.slot_key, keys);
        let mut outcomes: Vec<Option<RowOutcome>> =
            found.missing.iter().map(|&index| found.slot.get(&batch.items[index].key).map(RowOutcome::Done)).collect();
        let open = || outcomes.iter().zip(&found.missing).filter(|(outcome, _)| outcome.is_none());
        let missing: Vec<usize> = open().map(|(_, index)| *index).collect();
        let groups: Vec<&[usize]> = missing.chunks(size.max(1)).collect();
        let computed = self.spread(&groups, |group| {
            let rows = self.divide(batch, group, &call, compute);
            let kept = group.iter().zip(rows).map(|(&index, row)| self.keep_free(batch, found, index, row));
            kept.collect::<Result<Vec<_>, _>>()
        })?;
        let mut computed = computed.into_iter().flatten();
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
            *outcome = computed.next();
        }
        outcomes.into_iter().map(|outcome| outcome.ok_or(Halt::Interrupted)).collect()
    }

    /// The rows of a group; where it fails as a whole, those of its halves, so that one bad item fails only itself.
    fn divide(
        &self,
        batch: Wanted<'_>,
        indexes: &[usize],
        call: &Call,
        compute: &ComputeGroup<'_>,
    ) -> Vec<Result<Row, RowError>> {
        match self.compute_group(batch, indexes, call, compute) {
            Ok(rows) => rows,
            Err(error) if indexes.len() < 2 => indexes.iter().map(|_| Err(error.clone())).collect(),
            Err(_) => {
                let (first, second) = indexes.split_at(indexes.len() / 2);
                let mut rows = self.divide(batch, first, call, compute);
                rows.extend(self.divide(batch, second, call, compute));
                rows
            }
        }
    }

    /// Keeps a row that costs nothing but time. It is not flushed to the device: what a loss of power takes with it is
    /// computed again.
    pub(super) fn keep_free(
        &self,
        batch: Wanted<'_>,
        found: &Found,
        index: usize,
        row: Result<Row, RowError>,
    ) -> Result<RowOutcome, Halt> {
        let item = &batch.items[index];
        match row {
            Ok(row) => {
                let row = found.slot.append(item.key, row, Durability::Free).map_err(Halt::Store)?;
                self.row_done(item.label, 1, false);
                Ok(RowOutcome::Done(row))
            }
            Err(error) => {
                self.row_failed(item.label, &error);
                Ok(RowOutcome::Failed(error))
            }
        }
    }

    /// `one` of each of `all`, in their order: on this thread, and where that takes long on all of them.
    fn spread<T: Sync, R: Send>(
        &self,
        all: &[T],
        one: impl Fn(&T) -> Result<R, Halt> + Sync + Send,
    ) -> Result<Vec<R>, Halt> {
        let one = |item: &T| match self.shared.interrupt.asked() {
            true => Err(Halt::Interrupted),
            false => one(item),
        };
        let start = Instant::now();
        let mut rest = all.iter();
        let mut outcomes = Vec::with_capacity(all.len());
        while start.elapsed() < ALONE
            && let Some(item) = rest.next()
        {
            outcomes.push(one(item)?);
        }
        let rest = rest.as_slice();
        if !rest.is_empty() {
            let others = self.shared.threads.install(|| rest.par_iter().map(one).collect::<Result<Vec<_>, _>>())?;
            outcomes.extend(others);
        }
        Ok(outcomes)
    }

    /// One row.
    fn compute(&self, item: &str, index: usize, call: &Call, compute: &ComputeRow<'_>) -> Result<Row, RowError> {
        let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compute(index, call)));
        computed.unwrap_or_else(|_| Err(self.broke_down(Pool::Cpu, item)))
    }
}
