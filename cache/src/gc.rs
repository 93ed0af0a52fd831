//! Garbage collection: first a plan of what nothing needs, what it takes and what it would cost to make again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::layout::{list, remove_if_there};
use crate::runs::{ROOTS_FILE, Roots};
use crate::{Digest, Store, StoreError, StoreErrorKind, cas, rows};

/// What a collection keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcPolicy {
    /// How many of the newest runs of each evaluation keep what they used.
    pub keep_runs: usize,
    /// What was written more recently than this is kept, needed or not.
    pub grace: Duration,
}

/// Something that a collection would remove.
#[derive(Debug, Clone, PartialEq)]
pub struct GcItem {
    /// The action key, the blob, or the row slot.
    pub digest: Digest,
    /// The bytes that would be free.
    pub bytes: u64,
    /// The milliseconds that the actions which made it took; `None` where no record tells.
    pub recompute_ms: Option<f64>,
    /// Rows that would be asked or computed again; 0 except for row slots.
    pub rows: u64,
    /// What it is, for people: an action's label, else empty.
    pub label: String,
}

/// What a collection would remove. Nothing is removed before [`Store::gc_apply`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GcPlan {
    /// Actions that no kept run used, by key.
    pub actions: Vec<GcItem>,
    /// Blobs that no kept action made, by digest.
    pub blobs: Vec<GcItem>,
    /// Row slots that no kept run used, by digest.
    pub slots: Vec<GcItem>,
    /// Kept runs that do not say what they used. Only the grace period protects their actions and blobs; no row slot is
    /// removed as long as there is such a run, since rows may have been paid for.
    pub runs_without_roots: Vec<String>,
    /// The policy that the plan was made by; the grace period is looked at again when it is applied.
    pub grace: Duration,
}

impl GcPlan {
    /// The bytes that would be free.
    pub fn bytes(&self) -> u64 {
        [&self.actions, &self.blobs, &self.slots].into_iter().flatten().map(|item| item.bytes).sum()
    }

    /// The milliseconds that making it all again would take, as far as records tell. Blobs are made by the actions.
    pub fn recompute_ms(&self) -> f64 {
        // Not `sum`, which begins at -0.0.
        self.actions.iter().filter_map(|item| item.recompute_ms).fold(0.0, |sum, ms| sum + ms)
    }

    /// Whether there is nothing to remove.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.blobs.is_empty() && self.slots.is_empty()
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GcOutcome {
    /// Actions, blobs and slots that are gone.
    pub removed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Items of the plan that were kept after all, since they were written to in the meantime.
    pub kept: u64,
}

impl Store {
    /// Plans a collection. Needed is what the newest runs of each evaluation say they used ([`Roots`]) and the blobs of
    /// kept actions.
    ///
    /// # Errors
    /// When a run record is malformed (what it needs would be lost), or something cannot be read.
    pub fn gc_plan(&self, policy: &GcPolicy) -> Result<GcPlan, StoreError> {
        let mut plan = GcPlan { grace: policy.grace, ..GcPlan::default() };
        let (actions, slots) = self.roots(policy.keep_runs, &mut plan.runs_without_roots)?;
        let mut kept_blobs = BTreeSet::new();
        let mut cost: BTreeMap<Digest, f64> = BTreeMap::new();
        for key in self.actions().all()? {
            let Some(record) = self.actions().get(&key)? else { continue };
            let path = self.actions().path(&key);
            let bytes = size(&path)? + size(&self.actions().manifest_path(&key))?;
            if actions.contains(&key) || !is_older(&path, policy.grace)? {
                kept_blobs.extend(record.outputs.iter().map(|output| output.digest));
                continue;
            }
            for output in &record.outputs {
                *cost.entry(output.digest).or_default() += record.elapsed_ms;
            }
            let recompute_ms = Some(record.elapsed_ms);
            plan.actions.push(GcItem { digest: key, bytes, recompute_ms, rows: 0, label: record.label });
        }
        for blob in self.layout.digests(cas::BUCKET, "")?.0 {
            let path = self.cas().path(&blob);
            if !kept_blobs.contains(&blob) && is_older(&path, policy.grace)? {
                let recompute_ms = cost.get(&blob).copied();
                plan.blobs.push(GcItem {
                    digest: blob,
                    bytes: size(&path)?,
                    recompute_ms,
                    rows: 0,
                    label: String::new(),
                });
            }
        }
        let slots_known = plan.runs_without_roots.is_empty();
        for slot in self.rows().all()? {
            if slots_known && !slots.contains(&slot) && self.slot_is_older(&slot, policy.grace)? {
                let rows = self.rows().count(&slot)? as u64;
                let bytes = self.slot_bytes(&slot)?;
                plan.slots.push(GcItem { digest: slot, bytes, recompute_ms: None, rows, label: String::new() });
            }
        }
        Ok(plan)
    }

    /// Removes what `plan` says, except what was written to since. Actions go first, so no record refers to nothing.
    ///
    /// # Errors
    /// [`StoreErrorKind::InUse`] when another process has the store open: it may be about to use what the plan removes.
    pub fn gc_apply(&self, plan: &GcPlan) -> Result<GcOutcome, StoreError> {
        let scratch = self.layout.scratch("collect garbage", self.root())?;
        let alone = scratch.alone().map_err(|error| StoreError::io("collect garbage", self.root(), error))?;
        let Some(_gate) = alone else {
            let kind = StoreErrorKind::InUse;
            return Err(StoreError { operation: "collect garbage", place: self.root().to_path_buf(), kind });
        };
        let mut outcome = GcOutcome::default();
        for item in &plan.actions {
            let old = is_older(&self.actions().path(&item.digest), plan.grace)?;
            if outcome.note(old, item) {
                self.actions().remove(&item.digest)?;
            }
        }
        for item in &plan.blobs {
            let path = self.cas().path(&item.digest);
            if outcome.note(is_older(&path, plan.grace)?, item) {
                remove_if_there(&path).map_err(|error| StoreError::io("collect garbage", &path, error))?;
            }
        }
        for item in &plan.slots {
            if outcome.note(self.slot_is_older(&item.digest, plan.grace)?, item) {
                self.rows().forget(&item.digest)?;
            }
        }
        Ok(outcome)
    }

    /// The actions and slots that the newest `keep` runs of each evaluation used.
    fn roots(
        &self,
        keep: usize,
        without: &mut Vec<String>,
    ) -> Result<(BTreeSet<Digest>, BTreeSet<Digest>), StoreError> {
        let (mut actions, mut slots) = (BTreeSet::new(), BTreeSet::new());
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for run in self.runs().list()? {
            let runs = seen.entry(run.evaluation).or_default();
            *runs += 1;
            if *runs > keep {
                continue;
            }
            match self.runs().read_json::<Roots>(&run.id, ROOTS_FILE)? {
                Some(roots) => {
                    actions.extend(roots.actions);
                    slots.extend(roots.slots);
                }
                None => without.push(run.id),
            }
        }
        Ok((actions, slots))
    }

    fn slot_is_older(&self, slot: &Digest, grace: Duration) -> Result<bool, StoreError> {
        for path in list(&self.layout.place(rows::BUCKET, slot, ""))? {
            if !is_older(&path, grace)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn slot_bytes(&self, slot: &Digest) -> Result<u64, StoreError> {
        list(&self.layout.place(rows::BUCKET, slot, ""))?.iter().map(|path| size(path)).sum()
    }
}

impl GcOutcome {
    fn note(&mut self, remove: bool, item: &GcItem) -> bool {
        if remove {
            self.removed += 1;
            self.bytes += item.bytes;
        } else {
            self.kept += 1;
        }
        remove
    }
}

/// Whether the file was last written longer ago than `grace`; also when it is not there.
fn is_older(path: &Path, grace: Duration) -> Result<bool, StoreError> {
    match fs::metadata(path).and_then(|found| found.modified()) {
        // A time in the future is recent.
        Ok(modified) => Ok(SystemTime::now().duration_since(modified).is_ok_and(|age| age >= grace)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::io("look at", path, error)),
    }
}

fn size(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(StoreError::io("look at", path, error)),
    }
}
