//! What a planned action is lent: blobs, until it asks for rows.

use std::any::TypeId;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::contract::{
    ComputeGroup, ComputeRow, ComputeTogether, Context, Decoded, MakeValue, RowBatch, RowOutcome,
};
use ragstage_stages::error::{StageError, StageErrorKind};
use ragstage_stages::step::Step;

use super::overlay::Overlay;
use super::planner::Planner;
use super::rows::{RowFact, RowPlace, RowsToCome};
use crate::exec::Shared;

/// Lends an action blobs, and stops it when it asks for rows.
pub(super) struct PlanContext<'a> {
    shared: &'a Shared,
    overlay: &'a Overlay,
    step: Step,
    watch: Option<&'a str>,
    pub(super) rows: Mutex<Option<RowsToCome>>,
    pub(super) watched: Mutex<Vec<RowFact>>,
}

impl<'a> PlanContext<'a> {
    pub(super) fn new(planner: &'a Planner<'_>, step: Step, watch: Option<&'a str>) -> Self {
        PlanContext {
            shared: &planner.shared,
            overlay: &planner.overlay,
            step,
            watch,
            rows: Mutex::new(None),
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

    fn blob_file(&self, _: &Digest) -> Result<PathBuf, StageError> {
        Err(StageError { step: self.step, kind: StageErrorKind::Cancelled })
    }

    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(self.shared.sources.path(digest).and_then(|path| std::fs::read(path).ok()))
    }

    fn rows(&self, batch: RowBatch<'_>, _: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        self.count(&batch)
    }

    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        _: usize,
        _: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        self.count(&batch)
    }

    fn rows_together(&self, batch: RowBatch<'_>, _: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError> {
        self.count(&batch)
    }
}

impl PlanContext<'_> {
    fn count(&self, batch: &RowBatch<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let peek = |keys: &[Digest]| {
            self.shared.store.rows().peek(&slot, keys).map_err(|error| StageError::store(self.step, error))
        };
        for item in batch.items.iter().filter(|item| self.watch == Some(item.label)) {
            let place = RowPlace { slot, key: item.key, cached: peek(&[item.key])? > 0 };
            let fact = RowFact { item: item.label.to_string(), place: Some(place) };
            self.watched.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
        }
        let mut keys: Vec<Digest> = batch.items.iter().map(|item| item.key).collect();
        let total = keys.len() as u64;
        keys.sort();
        keys.dedup();
        let found = peek(&keys)?;
        let rows =
            RowsToCome { total, missing: (keys.len() - found.min(keys.len())) as u64, calls: batch.pool.calls() };
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
        Err(StageError { step: self.step, kind: StageErrorKind::Cancelled })
    }
}
