//! Artifacts in decoded form, shared by the actions of a process while memory lasts.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ragstage_cache::Digest;
use ragstage_stages::contract::Decoded;

/// Encoded bytes of the artifacts that are kept; decoded they take a few times as much.
const KEPT_BYTES: usize = 256 << 20;

/// Keeps the most recently used artifacts.
#[derive(Default)]
pub struct DecodedArtifacts {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Digest, Entry>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    value: Decoded,
    bytes: usize,
    used: u64,
}

impl DecodedArtifacts {
    /// An artifact that is kept.
    pub fn get(&self, digest: &Digest) -> Option<Decoded> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let now = kept.clock;
        kept.entries.get_mut(digest).map(|entry| {
            entry.used = now;
            entry.value.clone()
        })
    }

    /// Keeps an artifact that was decoded from `bytes` bytes; the least recently used ones give way.
    pub fn keep(&self, digest: Digest, value: Decoded, bytes: usize) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let used = kept.clock;
        if let Some(old) = kept.entries.insert(digest, Entry { value, bytes, used }) {
            kept.bytes -= old.bytes;
        }
        kept.bytes += bytes;
        while kept.bytes > KEPT_BYTES && kept.entries.len() > 1 {
            let Some(oldest) = kept.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(digest, _)| *digest)
            else {
                break;
            };
            if let Some(old) = kept.entries.remove(&oldest) {
                kept.bytes -= old.bytes;
            }
        }
    }
}
