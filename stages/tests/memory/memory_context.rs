//! A context that keeps blobs, source files and rows in memory, and remembers which rows it computed.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::contract::{
    Action, Artifact, Call, ComputeRow, Context, Decoded, MakeValue, Produced, Row, RowBatch, RowOutcome,
};
use ragstage_stages::error::{StageError, StageErrorKind};
use ragstage_stages::step::Step;

/// The context of these tests.
#[derive(Default)]
pub struct MemoryContext {
    blobs: Mutex<HashMap<Digest, Vec<u8>>>,
    sources: Mutex<HashMap<Digest, Vec<u8>>>,
    rows: Mutex<HashMap<(Digest, Digest), Arc<Row>>>,
    computed: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryContext {
    /// Stores an artifact.
    pub fn put<T: Artifact>(&self, artifact: &T) -> Digest {
        let bytes = artifact.encode().expect("encode");
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

    /// Runs `action` and gives what it produced, its one output decoded, and the labels of the rows it computed, sorted.
    pub fn run<T: Artifact>(&self, action: &dyn Action) -> (Produced, T, Vec<String>) {
        let produced = action.run(self).expect("run");
        let [output] = produced.outputs.as_slice() else { panic!("one output, found {}", produced.outputs.len()) };
        assert!(!output.observation);
        let decoded = T::decode(output.bytes.clone()).expect("decode");
        let mut computed = std::mem::take(&mut *lock(&self.computed));
        computed.sort();
        (produced, decoded, computed)
    }
}

impl Context for MemoryContext {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        lock(&self.blobs).get(digest).cloned().ok_or_else(|| StageError {
            step: Step::Prepare,
            kind: StageErrorKind::Artifact { digest: *digest, why: "is not stored".to_string() },
        })
    }

    fn value(&self, _: &Digest, _: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        make().map(|(value, _)| value)
    }

    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(lock(&self.sources).get(digest).cloned())
    }

    fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        let slot = key_of(batch.slot);
        let call = Call { timeout: Duration::from_secs(1), attempt: 1 };
        let outcome = |(i, item): (usize, &ragstage_stages::contract::RowItem<'_>)| {
            if let Some(row) = lock(&self.rows).get(&(slot, item.key)) {
                return RowOutcome::Done(row.clone());
            }
            lock(&self.computed).push(item.label.to_string());
            match compute(i, &call) {
                Ok(row) => {
                    let row = Arc::new(row);
                    lock(&self.rows).insert((slot, item.key), row.clone());
                    RowOutcome::Done(row)
                }
                Err(error) => RowOutcome::Failed(error),
            }
        };
        Ok(batch.items.iter().enumerate().map(outcome).collect())
    }
}
