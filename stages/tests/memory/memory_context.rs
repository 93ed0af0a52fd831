//! A context that keeps blobs, source files and rows in memory, and remembers which rows it computed.

use std::any::TypeId;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use ragstage_cache::key::key_of;
use ragstage_cache::table_file::TableSource;
use ragstage_cache::{Digest, StoreError};
use ragstage_stages::contract::{
    Action, Artifact, Call, ComputeGroup, ComputeRow, ComputeTogether, Context, Decoded, MakeValue, Meter, Output,
    Produced, Row, RowBatch, RowItem, RowOutcome, Spend,
};
use ragstage_stages::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use ragstage_stages::step::Step;

/// How many calls of a system are in flight at once.
const CALLS: usize = 4;

/// What a context in memory holds. Rows of the CPU are computed one by one, calls of systems on four threads, once each.
#[derive(Default)]
pub struct MemoryContext {
    blobs: Mutex<HashMap<Digest, Vec<u8>>>,
    sources: Mutex<HashMap<Digest, Vec<u8>>>,
    rows: Mutex<HashMap<(Digest, Digest), Arc<Row>>>,
    computed: Mutex<Vec<String>>,
    previous: Mutex<HashMap<&'static str, Vec<u8>>>,
    timeout: Option<Duration>,
    attempts_before: u32,
    meter: Meter,
    folder: OnceLock<tempfile::TempDir>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryContext {
    /// An empty one whose calls may take `timeout`.
    pub fn with_timeout(timeout: Duration) -> Self {
        MemoryContext { timeout: Some(timeout), ..MemoryContext::default() }
    }

    /// An empty one whose calls have failed once already.
    pub fn with_second_attempts() -> Self {
        MemoryContext { attempts_before: 1, ..MemoryContext::default() }
    }

    /// What its calls have spent.
    pub fn spent(&self) -> Spend {
        self.meter.total()
    }

    /// Where blobs are files.
    fn folder(&self) -> &Path {
        self.folder.get_or_init(|| tempfile::tempdir().expect("folder")).path()
    }

    /// Stores an artifact.
    pub fn put<T: Artifact>(&self, artifact: &T) -> Digest {
        self.put_bytes(artifact.encode().expect("encode"))
    }

    /// Stores an artifact that is encoded already.
    pub fn put_bytes(&self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        lock(&self.blobs).insert(digest, bytes);
        digest
    }

    /// Stores a source file.
    pub fn put_source(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        lock(&self.sources).insert(digest, bytes.to_vec());
        digest
    }

    /// Loses a source file.
    pub fn lose_source(&self, digest: &Digest) {
        lock(&self.sources).remove(digest);
    }

    /// Reads an artifact.
    pub fn read<T: Artifact>(&self, digest: &Digest) -> T {
        T::decode(self.blob(digest).expect("blob")).expect("decode")
    }

    /// Runs `action` and stores its outputs; the inputs of the next action are among them.
    pub fn run(&self, action: &dyn Action) -> Ran {
        let produced = action.run(self).unwrap_or_else(|error| panic!("{error}"));
        for output in &produced.outputs {
            self.put_bytes(output.bytes.clone());
            lock(&self.previous).insert(output.name, output.bytes.clone());
        }
        Ran(produced)
    }

    /// Labels of the rows computed since the last call, sorted.
    pub fn computed(&self) -> Vec<String> {
        let mut labels = std::mem::take(&mut *lock(&self.computed));
        labels.sort();
        labels
    }

    fn call(&self) -> Call {
        Call {
            timeout: self.timeout.unwrap_or(Duration::from_secs(20)),
            attempt: 1 + self.attempts_before,
            meter: self.meter.clone(),
        }
    }

    fn row(&self, slot: Digest, item: &RowItem<'_>, compute: impl Fn() -> Result<Row, RowError>) -> RowOutcome {
        if let Some(row) = lock(&self.rows).get(&(slot, item.key)) {
            return RowOutcome::Done(row.clone());
        }
        lock(&self.computed).push(item.label.to_string());
        match compute() {
            Ok(row) => {
                let row = Arc::new(row);
                lock(&self.rows).insert((slot, item.key), row.clone());
                RowOutcome::Done(row)
            }
            Err(error) => RowOutcome::Failed(error),
        }
    }
}

/// What an action produced.
pub struct Ran(pub Produced);

impl Ran {
    /// The output `name`.
    pub fn output(&self, name: &str) -> &Output {
        let found = self.0.outputs.iter().find(|output| output.name == name);
        found.unwrap_or_else(|| panic!("no output is called {name}"))
    }

    /// The digest of the output `name`.
    pub fn digest(&self, name: &str) -> Digest {
        Digest::of(&self.output(name).bytes)
    }

    /// The output `name`, decoded.
    pub fn read<T: Artifact>(&self, name: &str) -> T {
        T::decode(self.output(name).bytes.clone()).expect("decode")
    }
}

impl Context for MemoryContext {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        lock(&self.blobs).get(digest).cloned().ok_or_else(|| {
            StageError::store(Step::Prepare, StoreError::malformed("read blob", digest.hex().as_ref(), "gone"))
        })
    }

    fn value(&self, _: &Digest, _: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        make().map(|(value, _)| value)
    }

    fn blob_file(&self, digest: &Digest) -> Result<PathBuf, StageError> {
        let path = self.folder().join(digest.hex());
        std::fs::write(&path, self.blob(digest)?).expect("blob file");
        Ok(path)
    }

    fn previous(&self, name: &str) -> Option<TableSource> {
        lock(&self.previous).get(name).cloned().map(TableSource::from)
    }

    fn own_rows_done(&self, computed: &[&str], failed: &[(&str, &RowError)]) {
        let labels = computed.iter().chain(failed.iter().map(|(label, _)| label));
        lock(&self.computed).extend(labels.map(|label| label.to_string()));
    }

    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(lock(&self.sources).get(digest).cloned())
    }

    fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let call = self.call();
        let outcomes: Vec<Mutex<Option<RowOutcome>>> = batch.items.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::SeqCst);
                let Some(item) = batch.items.get(index) else { return };
                *lock(&outcomes[index]) = Some(self.row(slot, item, || compute(index, &call)));
            }
        };
        let threads = if batch.pool.calls() { CALLS } else { 1 };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        Ok(outcomes.iter().map(|outcome| lock(outcome).take().expect("every row is computed")).collect())
    }

    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        size: usize,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let call = self.call();
        let missing: Vec<usize> = (0..batch.items.len())
            .filter(|&index| !lock(&self.rows).contains_key(&(slot, batch.items[index].key)))
            .collect();
        let mut outcomes: HashMap<usize, Result<Row, RowError>> = HashMap::new();
        let mut groups: Vec<&[usize]> = missing.chunks(size.max(1)).rev().collect();
        while let Some(group) = groups.pop() {
            match compute(group, &call) {
                Ok(rows) => outcomes.extend(group.iter().copied().zip(rows)),
                // As the executor does: one bad row may be all that is wrong with it.
                Err(error)
                    if group.len() > 1 && matches!(error.kind, RowErrorKind::Refused | RowErrorKind::BadReply) =>
                {
                    let (first, second) = group.split_at(group.len() / 2);
                    groups.extend([second, first]);
                }
                Err(error) => outcomes.extend(group.iter().map(|&index| (index, Err(error.clone())))),
            }
        }
        let row = |(index, item)| self.row(slot, item, || outcomes.get(&index).cloned().expect("computed"));
        Ok(batch.items.iter().enumerate().map(row).collect())
    }

    fn rows_together(&self, batch: RowBatch<'_>, compute: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let missing: Vec<usize> = (0..batch.items.len())
            .filter(|&index| !lock(&self.rows).contains_key(&(slot, batch.items[index].key)))
            .collect();
        let rows = if missing.is_empty() { Vec::new() } else { compute(&missing)? };
        let outcomes: HashMap<usize, Result<Row, RowError>> = missing.into_iter().zip(rows).collect();
        let row = |(index, item)| self.row(slot, item, || outcomes.get(&index).cloned().expect("computed"));
        Ok(batch.items.iter().enumerate().map(row).collect())
    }
}
