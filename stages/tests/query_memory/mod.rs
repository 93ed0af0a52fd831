//! A context in memory that logs which rows were computed.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, StoreError};
use ragstage_stages::artifact::{Chunk, Chunks, Documents, Gold, Golds, Queries, Query, Unit, UnitRows};
use ragstage_stages::contract::{
    Action, Artifact, Call, ComputeRow, Context, Decoded, MakeValue, Pool, Produced, Row, RowBatch, RowOutcome,
};
use ragstage_stages::error::{RowError, StageError};
use ragstage_stages::step::Step;

type Cell<T> = Mutex<Option<Result<T, RowError>>>;

/// Blobs and rows in memory; calls of systems run on four threads, once each.
#[derive(Default)]
pub struct Memory {
    blobs: Mutex<HashMap<Digest, Vec<u8>>>,
    rows: Mutex<HashMap<(Digest, Digest), Arc<Row>>>,
    computed: Mutex<Vec<String>>,
    timeout: Option<Duration>,
}

impl Memory {
    pub fn with_timeout(timeout: Duration) -> Self {
        Memory { timeout: Some(timeout), ..Memory::default() }
    }

    pub fn put(&self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.blobs.lock().expect("blobs").insert(digest, bytes);
        digest
    }

    pub fn put_artifact(&self, artifact: &impl Artifact) -> Digest {
        self.put(artifact.encode().expect("encode"))
    }

    /// Runs an action; its outputs by name, with how many rows failed.
    pub fn run(&self, action: &dyn Action) -> (HashMap<&'static str, Digest>, u64) {
        let Produced { outputs, failed, .. } = action.run(self).expect("run");
        (outputs.into_iter().map(|output| (output.name, self.put(output.bytes))).collect(), failed)
    }

    pub fn read<T: Artifact>(&self, digest: &Digest) -> T {
        T::decode(self.blob(digest).expect("blob")).expect("decode")
    }

    /// Labels of the rows computed since the last call, sorted.
    pub fn computed(&self) -> Vec<String> {
        let mut labels = std::mem::take(&mut *self.computed.lock().expect("computed"));
        labels.sort();
        labels
    }
}

impl Context for Memory {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        self.blobs.lock().expect("blobs").get(digest).cloned().ok_or_else(|| {
            StageError::store(Step::Retrieve, StoreError::malformed("read blob", digest.hex().as_ref(), "gone"))
        })
    }

    fn value(&self, _: &Digest, _: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        make().map(|(value, _)| value)
    }

    fn source(&self, _: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(None)
    }

    fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let call = Call { timeout: self.timeout.unwrap_or(Duration::from_secs(20)), attempt: 1 };
        let cells: Vec<Cell<Arc<Row>>> = batch.items.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((index, item)) = take(&next, batch.items) {
                let known = self.rows.lock().expect("rows").get(&(slot, item.key)).cloned();
                let row = known.map(Ok).unwrap_or_else(|| {
                    self.computed.lock().expect("computed").push(item.label.to_string());
                    let row = Arc::new(compute(index, &call)?);
                    self.rows.lock().expect("rows").insert((slot, item.key), row.clone());
                    Ok(row)
                });
                *cells[index].lock().expect("cell") = Some(row);
            }
        };
        let threads = if batch.pool == Pool::Queries { 4 } else { 1 };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        let outcome = |cell: Cell<Arc<Row>>| match cell.into_inner().expect("cell").expect("every row is computed") {
            Ok(row) => RowOutcome::Done(row),
            Err(error) => RowOutcome::Failed(error),
        };
        Ok(cells.into_iter().map(outcome).collect())
    }
}

fn take<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::SeqCst);
    items.get(index).map(|item| (index, item))
}

/// A chunk `id` of document `document`.
pub fn chunk(id: &str, document: &str, title: Option<&str>, text: &str) -> Chunk {
    Chunk {
        chunk_id: id.to_string(),
        document_id: document.to_string(),
        name: format!("{document}.txt"),
        source_key: format!("raw/benchmarks/harbour/{document}.txt"),
        title: title.map(str::to_string),
        page_index: 0,
        chunk_index: 0,
        start: 0,
        end: text.chars().count() as u64,
        tokens: 1,
        heading: None,
        text: text.to_string(),
    }
}

/// A small harbour.
pub fn chunks() -> Chunks {
    Chunks {
        rows: vec![
            chunk("c1", "light", Some("Lighthouse"), "It was built in 1871. The keeper lives there."),
            chunk("c2", "quay", None, "Ships unload grain at the quay. The quay is long."),
            chunk("c3", "tide", Some("Tides"), "Tides rise twice a day. Ships wait for them."),
        ],
    }
}

/// Queries (id, text) and the unit of all of them.
pub fn queries(cases: &[(&str, &str)]) -> (Queries, Unit) {
    let query =
        |(case_id, text): &(&str, &str)| Query { case_id: case_id.to_string(), text: text.to_string(), category: None };
    let queries = Queries { rows: cases.iter().map(query).collect() };
    // The unit reads gold only for its gold digest.
    let golds = Golds { rows: cases.iter().map(|_| Gold::default()).collect() };
    let rows = UnitRows { unit_id: "all".to_string(), ..UnitRows::default() };
    let unit = Unit::over(rows, &Documents::default(), &queries, &golds).expect("unit");
    (queries, unit)
}
