//! Row caches: computed and paid rows, by slot and by the digest of their item.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, read_if_there};
use crate::{Digest, Manifest, StoreError, StoreErrorKind};

pub use crate::row::StoredRow;
pub use crate::slot::{RowSlot, WrittenRow};

pub(crate) const BUCKET: &str = "rows-v1";
pub(crate) const SLOT_FILE: &str = "slot.json";
const SLOT_FORMAT: u32 = 1;

/// When an appended row is safe from a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the append returns: a row that cost money.
    Paid,
    /// After [`RowCache::close`]; until then it survives the death of the process, not of the machine.
    Free,
}

/// `slot.json`: what the rows of a slot have in common.
#[derive(Serialize, Deserialize)]
pub(crate) struct SlotFile {
    format: u32,
    slot: Digest,
    manifest: Manifest,
}

impl SlotFile {
    pub(crate) fn new(slot: Digest, manifest: Manifest) -> Self {
        SlotFile { format: SLOT_FORMAT, slot, manifest }
    }
}

/// The row caches of a store. A slot is a stage's key without its list of items; a row's key is its item's digest.
///
/// `rows-v1/ab/cdef…/` holds `slot.json`, segments and journals. Rows live in memory once their slot was asked for, until
/// [`RowCache::close`].
#[derive(Debug)]
pub struct RowCache {
    layout: Arc<Layout>,
    slots: Mutex<HashMap<Digest, Arc<RowSlot>>>,
}

impl RowCache {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        RowCache { layout, slots: Mutex::default() }
    }

    /// The handle of `slot`, one for all threads, with all rows that any process has written by now.
    ///
    /// `manifest` is asked for the slot's readable preimage when the slot is not there yet; nothing is written before the
    /// first append.
    ///
    /// # Errors
    /// When what is there cannot be read. Damaged files are incidents, not errors.
    pub fn slot(&self, slot: &Digest, manifest: &dyn Fn() -> Manifest) -> Result<Arc<RowSlot>, StoreError> {
        let handle = self.handle(slot);
        handle.refresh()?;
        handle.describe(manifest);
        Ok(handle)
    }

    /// Of each of `keys`, whether it has a row in `slot`. Makes no file.
    ///
    /// # Errors
    /// As [`RowCache::slot`].
    pub fn peek(&self, slot: &Digest, keys: &[Digest]) -> Result<Vec<bool>, StoreError> {
        let handle = self.handle(slot);
        handle.refresh()?;
        Ok(keys.iter().map(|key| handle.get(key).is_some()).collect())
    }

    /// Ends a run: every row is made durable, long journals become segments, many segments become one, and the journals
    /// are free for the next writer.
    ///
    /// # Errors
    /// The first one, after all slots were tried.
    pub fn close(&self) -> Result<(), StoreError> {
        let handles = std::mem::take(&mut *self.lock());
        let mut slots: Vec<_> = handles.into_iter().collect();
        slots.sort_unstable_by_key(|(slot, _)| *slot);
        let mut result = Ok(());
        for (_, handle) in slots {
            result = result.and(handle.close());
        }
        result
    }

    /// Puts all rows of `slot` into quarantine, where nobody looks them up: they are not what they should be.
    ///
    /// # Errors
    /// When the slot's journal cannot be closed.
    pub fn set_aside(&self, slot: &Digest, why: &str) -> Result<(), StoreError> {
        let handle = self.lock().remove(slot);
        if let Some(handle) = handle {
            handle.close()?;
        }
        let dir = self.layout.place(BUCKET, slot, "");
        if dir.exists() {
            self.layout.quarantine(&dir, why);
        }
        Ok(())
    }

    /// What the rows of `slot` have in common; `None` when the slot is not there or its description is malformed.
    ///
    /// # Errors
    /// When it cannot be read, or a newer version wrote it.
    pub fn manifest(&self, slot: &Digest) -> Result<Option<Manifest>, StoreError> {
        let path = self.layout.place(BUCKET, slot, "").join(SLOT_FILE);
        let Some(bytes) = read_if_there("read slot", &path)? else { return Ok(None) };
        match serde_json::from_slice::<SlotFile>(&bytes) {
            Ok(file) if file.format > SLOT_FORMAT => {
                let kind = StoreErrorKind::Newer { found: file.format, known: SLOT_FORMAT };
                Err(StoreError { operation: "read slot", place: path, kind })
            }
            Ok(file) => Ok(Some(file.manifest)),
            Err(error) => {
                self.layout.incidents.record(&path, format!("malformed slot: {error}"), "its rows are kept");
                Ok(None)
            }
        }
    }

    /// All slots, sorted.
    ///
    /// # Errors
    /// When the directories cannot be listed.
    pub fn all(&self) -> Result<Vec<Digest>, StoreError> {
        Ok(self.layout.digests(BUCKET, "")?.0)
    }

    /// How many rows `slot` has. Its rows are not kept in memory.
    ///
    /// # Errors
    /// As [`RowCache::slot`].
    pub fn count(&self, slot: &Digest) -> Result<usize, StoreError> {
        let rows = RowSlot::new(self.layout.clone(), *slot);
        rows.refresh()?;
        Ok(rows.len())
    }

    /// Removes `slot` with all its rows: they were true once, and what they tell of is not there any more. Only for slots that
    /// a single action uses, for another process may write to it at that moment, and would have to compute its row again.
    ///
    /// # Errors
    /// When the slot's journal cannot be closed or its files cannot be removed.
    pub fn discard(&self, slot: &Digest) -> Result<(), StoreError> {
        let handle = self.lock().remove(slot);
        if let Some(handle) = handle {
            handle.close()?;
        }
        self.forget(slot)
    }

    /// Removes `slot` with all its rows. No other process may have the store open.
    pub(crate) fn forget(&self, slot: &Digest) -> Result<(), StoreError> {
        self.lock().remove(slot);
        let dir = self.layout.place(BUCKET, slot, "");
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove slot", &dir, error)),
            _ => Ok(()),
        }
    }

    fn handle(&self, slot: &Digest) -> Arc<RowSlot> {
        let new = || Arc::new(RowSlot::new(self.layout.clone(), *slot));
        self.lock().entry(*slot).or_insert_with(new).clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Arc<RowSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
