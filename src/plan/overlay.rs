//! Blobs that a plan makes and does not store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::Digest;

/// Blobs of a plan that are nowhere on disk.
#[derive(Default)]
pub struct Overlay {
    blobs: Mutex<HashMap<Digest, Arc<Vec<u8>>>>,
}

impl Overlay {
    /// A blob of the plan.
    pub fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).get(digest).map(|bytes| bytes.to_vec())
    }

    pub(super) fn put(&self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).insert(digest, Arc::new(bytes));
        digest
    }
}
