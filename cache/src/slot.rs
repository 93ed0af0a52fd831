//! One row cache: its rows in memory, its journal, its segments.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::atomic::{make_dir, sync_dir};
use crate::commit::GroupCommit;
use crate::journal::{self, JournalWriter, NoJournal};
use crate::layout::{Layout, list, remove_if_there};
use crate::lock::Locks;
use crate::row::StoredRow;
use crate::rows::{BUCKET, Durability, SLOT_FILE, SlotFile};
use crate::segment::{self, KeyedRow, Loaded};
use crate::{Digest, Manifest, StoreError};

/// Journals of at least so many rows become a segment at the end of a run.
const ROLL_ROWS: usize = 512;
/// More journals than this (of processes that died) become a segment however few rows they hold.
const ROLL_JOURNALS: usize = 8;
/// More segments than this become one.
const MERGE_SEGMENTS: usize = 8;
/// A segment of this many bytes is not rewritten to lower their number.
const MERGE_BYTES: u64 = 64 << 20;
/// How often a directory is read again because files in it vanished while they were read.
const ATTEMPTS: usize = 16;

/// The rows of one slot, shared by the threads of a process. Other processes may append to the same slot.
#[derive(Debug)]
pub struct RowSlot {
    layout: Arc<Layout>,
    slot: Digest,
    dir: PathBuf,
    state: Mutex<State>,
    commit: GroupCommit,
}

/// A row that is in the journal and not yet known to be on the device.
#[derive(Debug)]
#[must_use = "a row is not seen before it is committed"]
pub struct WrittenRow {
    key: Digest,
    row: Arc<StoredRow>,
    position: u64,
}

#[derive(Debug, Default)]
struct State {
    rows: HashMap<Digest, Arc<StoredRow>>,
    /// The segments that were read, or found to be unreadable.
    segments: BTreeSet<String>,
    /// How far the journals of other writers were read.
    journals: BTreeMap<String, Tail>,
    writer: Option<JournalWriter>,
    /// Bytes of records appended by this handle: the positions of [`GroupCommit`].
    written: u64,
    /// Whether all that was there at first has been read.
    loaded: bool,
    /// Whether some key was found with two different rows.
    conflict: bool,
    /// The slot's description, until it is written.
    manifest: Option<Manifest>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tail {
    end: u64,
    rows: usize,
    /// Not a journal of this version.
    ignored: bool,
}

impl State {
    /// Takes in a row from disk. What was there first is loaded in the order of age, so the later row stands; afterwards
    /// a row that this process has seen stays what it was.
    fn take_in(&mut self, key: Digest, row: Arc<StoredRow>) {
        match self.rows.get_mut(&key) {
            None => {
                self.rows.insert(key, row);
            }
            Some(known) if **known == *row => {}
            Some(known) => {
                self.conflict = true;
                if !self.loaded {
                    *known = row;
                }
            }
        }
    }
}

impl RowSlot {
    pub(crate) fn new(layout: Arc<Layout>, slot: Digest) -> Self {
        let dir = layout.place(BUCKET, &slot, "");
        RowSlot { layout, slot, dir, state: Mutex::default(), commit: GroupCommit::default() }
    }

    /// The row of `key`, if this slot has one.
    pub fn get(&self, key: &Digest) -> Option<Arc<StoredRow>> {
        self.lock().rows.get(key).cloned()
    }

    /// The number of rows in this slot.
    pub fn len(&self) -> usize {
        self.lock().rows.len()
    }

    /// Whether this slot has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores the row of `key`, instead of an earlier one, and returns it. It can be seen by [`RowSlot::get`] when it is
    /// as safe as `durability` asks; threads that append paid rows at the same time share a flush.
    ///
    /// # Errors
    /// When the row cannot be written: it is then not in this slot.
    pub fn append(&self, key: Digest, row: StoredRow, durability: Durability) -> Result<Arc<StoredRow>, StoreError> {
        let written = self.write_row(key, row)?;
        match durability {
            Durability::Paid => self.commit(written),
            Durability::Free => Ok(self.show(written)),
        }
    }

    /// The first half of an append of a paid row: from now on it survives the death of the process. It is not seen before
    /// [`RowSlot::commit`], which waits for the device, so that whoever paid may go on to the next row meanwhile.
    ///
    /// # Errors
    /// As [`RowSlot::append`].
    pub fn write_row(&self, key: Digest, row: StoredRow) -> Result<WrittenRow, StoreError> {
        let Some(record) = journal::encode(&key, &row) else {
            return Err(StoreError::malformed("append row", &self.dir, "a row is longer than 4 GiB"));
        };
        let mut state = self.lock();
        self.write(&mut state, &record)?;
        Ok(WrittenRow { key, row: Arc::new(row), position: state.written })
    }

    /// The second half: the row is on the device, and can be seen.
    ///
    /// # Errors
    /// When the device refuses: the row is then not in this slot.
    pub fn commit(&self, written: WrittenRow) -> Result<Arc<StoredRow>, StoreError> {
        self.flush(written.position)?;
        Ok(self.show(written))
    }

    fn show(&self, written: WrittenRow) -> Arc<StoredRow> {
        let WrittenRow { key, row, .. } = written;
        let mut state = self.lock();
        if let Some(earlier) = state.rows.insert(key, row.clone()) {
            state.conflict |= *earlier != *row;
        }
        row
    }

    /// The only place where rows are written to disk before they are in a segment.
    fn write(&self, state: &mut State, record: &[u8]) -> Result<(), StoreError> {
        if state.writer.is_none() {
            state.writer = Some(self.open_writer(state)?);
        }
        let Some(writer) = state.writer.as_mut() else { return Ok(()) };
        match writer.append(record) {
            Ok(()) => {
                state.written += record.len() as u64;
                Ok(())
            }
            Err(failure) => {
                let error = StoreError::io("append row", writer.path(), failure.error);
                if !failure.usable {
                    self.retire_writer(state);
                }
                Err(error)
            }
        }
    }

    /// Adopts a journal whose writer is gone, or begins a new one.
    fn open_writer(&self, state: &mut State) -> Result<JournalWriter, StoreError> {
        let failed = |error| StoreError::io("open journal", &self.dir, error);
        self.layout.scratch("open journal", &self.dir)?;
        make_dir(&self.dir).map_err(failed)?;
        if let Some(manifest) = state.manifest.take() {
            let path = self.dir.join(SLOT_FILE);
            if !path.exists() {
                self.layout.write_json("write slot", &path, &SlotFile::new(self.slot, manifest))?;
            }
        }
        for name in self.names(journal::PREFIX)? {
            if let Some(writer) = JournalWriter::adopt(&self.dir.join(&name), &self.layout.incidents).map_err(failed)? {
                // What its last writer wrote since it was looked at.
                self.read_journal(state, &name)?;
                state.journals.remove(&name);
                return Ok(writer);
            }
        }
        JournalWriter::create(&self.dir).map_err(failed)
    }

    /// Lets go of the journal; it stays for the next writer.
    fn retire_writer(&self, state: &mut State) {
        if let Some(writer) = state.writer.take() {
            self.commit.settle(state.written, writer.file().sync_data());
            let tail = Tail { end: writer.end(), rows: writer.rows(), ignored: false };
            state.journals.insert(writer.name().to_string(), tail);
        }
    }

    fn flush(&self, position: u64) -> Result<(), StoreError> {
        let flush = || {
            let (file, written) = {
                let state = self.lock();
                (state.writer.as_ref().map(|writer| writer.file().clone()), state.written)
            };
            // A writer that was let go was flushed then.
            (written, file.map_or(Ok(()), |file: Arc<File>| file.sync_data()))
        };
        self.commit.wait_for(position, flush).map_err(|error| StoreError::io("flush journal", &self.dir, error))
    }

    /// Remembers the slot's description for the first append.
    pub(crate) fn describe(&self, manifest: &dyn Fn() -> Manifest) {
        let mut state = self.lock();
        if state.manifest.is_none() && state.writer.is_none() && !self.dir.join(SLOT_FILE).exists() {
            state.manifest = Some(manifest());
        }
    }

    /// Takes in what other processes wrote since the last time: new segments, and the new bytes of journals.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        self.refresh_state(&mut self.lock())
    }

    fn refresh_state(&self, state: &mut State) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            // Read before the journals: a journal is removed only after its rows are in a segment. A listing is not one
            // moment, so it counts when the next one is the same.
            let names = self.names("")?;
            if names != self.names("")? {
                continue;
            }
            let mut whole = true;
            for name in names.iter().filter(|name| name.starts_with(segment::PREFIX)) {
                whole &= self.read_segment(state, name)?;
            }
            for name in names.iter().filter(|name| name.starts_with(journal::PREFIX)) {
                whole &= self.read_journal(state, name)?;
            }
            if whole {
                break;
            }
        }
        state.loaded = true;
        Ok(())
    }

    /// Whether the segment was still there.
    fn read_segment(&self, state: &mut State, name: &str) -> Result<bool, StoreError> {
        if state.segments.contains(name) {
            return Ok(true);
        }
        match segment::load(&self.layout, &self.dir.join(name))? {
            Loaded::Gone => return Ok(false),
            Loaded::Unreadable => {}
            Loaded::Rows(rows) => rows.into_iter().for_each(|(key, row)| state.take_in(key, row)),
        }
        state.segments.insert(name.to_string());
        Ok(true)
    }

    /// Whether the journal was still there.
    fn read_journal(&self, state: &mut State, name: &str) -> Result<bool, StoreError> {
        let mut tail = state.journals.get(name).copied().unwrap_or_default();
        if tail.ignored || state.writer.as_ref().is_some_and(|writer| writer.name() == name) {
            return Ok(true);
        }
        let path = self.dir.join(name);
        let read = || -> io::Result<_> {
            let mut file = File::open(&path)?;
            if file.metadata()?.len() <= tail.end {
                return Ok(None);
            }
            journal::scan(&mut file, tail.end).map(Some)
        };
        match read() {
            Ok(None) => {}
            Ok(Some(Ok(scan))) => {
                tail.end = scan.end;
                tail.rows += scan.rows.len();
                for (key, row) in scan.rows {
                    state.take_in(key, Arc::new(row));
                }
                if scan.damaged > 0 {
                    let found = format!("{} damaged rows in a journal", scan.damaged);
                    self.layout.incidents.record(&path, found, "skipped: they are computed again");
                }
            }
            Ok(Some(Err(NoJournal::Newer(version)))) => {
                tail.ignored = true;
                self.layout.incidents.record(&path, format!("journal of version {version}"), "left to newer programs");
            }
            Ok(Some(Err(NoJournal::Foreign))) => {
                tail.ignored = true;
                self.layout.quarantine(&path, "not a journal");
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io("read journal", &path, error)),
        }
        state.journals.insert(name.to_string(), tail);
        Ok(true)
    }

    /// The names in the slot's directory that begin with `prefix`, sorted.
    fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let names = list(&self.dir)?.into_iter().filter_map(|path| path.file_name()?.to_str().map(str::to_string));
        Ok(names.filter(|name| name.starts_with(prefix)).collect())
    }

    /// Makes all rows durable, rolls and merges where that is due, and lets go of the journal. A slot that this handle
    /// did not append to is left as it is.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let Some(writer) = &state.writer else { return Ok(()) };
        let synced = writer.file().sync_data();
        let failed = synced.as_ref().err().map(|error| io::Error::from(error.kind()));
        let place = writer.path().to_path_buf();
        self.commit.settle(state.written, synced);
        if let Some(error) = failed {
            self.retire_writer(&mut state);
            return Err(StoreError::io("flush journal", &place, error));
        }
        let result = self.roll(&mut state);
        self.retire_writer(&mut state);
        result
    }

    /// Turns the journals that have no other writer into segments, if there is enough in them.
    fn roll(&self, state: &mut State) -> Result<(), StoreError> {
        let own = state.writer.as_ref().map_or(0, JournalWriter::rows);
        let others = state.journals.values().map(|tail| tail.rows).sum::<usize>();
        if !due(own + others, 1 + state.journals.len()) {
            return Ok(());
        }
        // One at a time: two would each write the other's rows and remove what the other still reads.
        let key = Digest::of_parts("roll", [self.slot.0.as_slice()]);
        let Some(_guard) = Locks::new(self.layout.clone()).try_acquire(&key)? else { return Ok(()) };
        self.refresh_state(state)?;
        let failed = |error| StoreError::io("roll journals", &self.dir, error);
        let mut journals: Vec<JournalWriter> = Vec::new();
        for name in self.names(journal::PREFIX)? {
            let path = self.dir.join(name);
            journals.extend(JournalWriter::adopt(&path, &self.layout.incidents).map_err(failed)?);
        }
        journals.extend(state.writer.take());
        let due = due(journals.iter().map(JournalWriter::rows).sum(), journals.len());
        let result = if due { self.roll_into_segments(state, &journals) } else { Ok(()) };
        match result {
            Ok(()) if due => {}
            // Not rolled: the own journal is let go of by the caller, and the rows stay where they are.
            _ => state.writer = journals.pop(),
        }
        result
    }

    fn roll_into_segments(&self, state: &mut State, journals: &[JournalWriter]) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("roll journals", &self.dir, error);
        let mut rows: BTreeMap<Digest, Arc<StoredRow>> = BTreeMap::new();
        for journal in journals {
            rows.extend(journal.read().map_err(failed)?.into_iter().map(|(key, row)| (key, Arc::new(row))));
        }
        let merged = self.mergeable(state);
        for name in &merged {
            let found = match segment::load(&self.layout, &self.dir.join(name))? {
                Loaded::Rows(found) => found,
                // It was readable when it was taken in: what it held is in memory.
                Loaded::Gone | Loaded::Unreadable => state.rows.iter().map(|(key, row)| (*key, row.clone())).collect(),
            };
            for (key, row) in found {
                rows.entry(key).or_insert(row);
            }
        }
        // Of several rows of one key the one that this process sees is kept.
        let rows: Vec<KeyedRow> =
            rows.into_iter().map(|(key, row)| (key, state.rows.get(&key).cloned().unwrap_or(row))).collect();
        let written = segment::write(&self.layout, &self.dir, &rows)?;
        // The segments are durable: now what they replace can go.
        for journal in journals {
            remove_if_there(journal.path()).map_err(failed)?;
            state.journals.remove(journal.name());
        }
        for name in merged.iter().filter(|name| !written.contains(name)) {
            remove_if_there(&self.dir.join(name)).map_err(failed)?;
            state.segments.remove(name);
        }
        state.segments.extend(written);
        state.conflict = false;
        sync_dir(&self.dir).map_err(failed)
    }

    /// The segments to rewrite together with the journals: all when a key has two rows, since segments have no order;
    /// else the small ones when there are many; else none.
    fn mergeable(&self, state: &State) -> Vec<String> {
        let there = state.segments.iter().filter(|name| segment::size(&self.dir, name) > 0);
        if state.conflict {
            return there.cloned().collect();
        }
        let small: Vec<String> = there.filter(|name| segment::size(&self.dir, name) < MERGE_BYTES).cloned().collect();
        if small.len() >= MERGE_SEGMENTS { small } else { Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Rows and offsets are each changed in one step, so a panicking thread leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn due(rows: usize, journals: usize) -> bool {
    rows >= ROLL_ROWS || journals > ROLL_JOURNALS
}
