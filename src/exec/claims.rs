//! Which paid rows are being computed: two actions of a run that need the same row pay for it once.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ragstage_cache::Digest;

/// A row: its slot and its key there.
type RowId = (Digest, Digest);

/// The rows that somebody is computing.
#[derive(Default)]
pub struct Claims {
    taken: Mutex<HashSet<RowId>>,
    freed: Condvar,
}

/// The right to compute a row; given back on drop.
pub struct Claim<'a> {
    claims: &'a Claims,
    row: RowId,
}

impl Claims {
    /// Waits until nobody else computes the row. Whoever had it may have stored it, so look again before computing.
    pub fn take(&self, slot: Digest, key: Digest) -> Claim<'_> {
        let row = (slot, key);
        let mut taken = self.lock();
        while !taken.insert(row) {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        Claim { claims: self, row }
    }

    /// [`Claims::take`] of several rows, always in the same order, so that two that need the same ones never wait for each
    /// other.
    pub fn take_all(&self, slot: Digest, keys: impl Iterator<Item = Digest>) -> Vec<Claim<'_>> {
        let mut keys: Vec<Digest> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(|key| self.take(slot, key)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RowId>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claims.lock().remove(&self.row);
        self.claims.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_row_has_one_owner_at_a_time_and_others_are_not_held_up() {
        let claims = Claims::default();
        let [a, b] = ["a", "b"].map(|name| Digest::of(name.as_bytes()));
        let _other = claims.take(a, b);
        let owners = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _claim = claims.take(a, a);
                        assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0);
                        owners.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
