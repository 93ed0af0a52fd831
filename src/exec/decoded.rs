//! Artifacts in decoded form, and what was derived from them, shared by the actions of a process while memory lasts.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ragstage_cache::Digest;
use ragstage_stages::contract::{Decoded, MakeValue};
use ragstage_stages::error::StageError;

/// Encoded bytes of the artifacts that are kept; decoded they take a few times as much.
const KEPT_BYTES: usize = 256 << 20;

/// Keeps the most recently used values.
#[derive(Default)]
pub struct DecodedArtifacts {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Id, Entry>,
    bytes: usize,
    clock: u64,
}

/// Of which artifact, and of which type: an artifact is kept as itself and as what was derived from it.
type Id = (Digest, TypeId);

struct Entry {
    /// Locked while the value is made, so that actions that start together decode once.
    cell: Arc<Mutex<Option<Decoded>>>,
    bytes: usize,
    used: u64,
}

impl DecodedArtifacts {
    /// The value of an artifact, made by `make` unless it is kept; the least recently used ones give way to it.
    ///
    /// `make` must not wait for a thread that may ask for the same value.
    ///
    /// # Errors
    /// Those of `make`; nothing is kept then.
    pub fn value(&self, digest: &Digest, kind: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
        let id = (*digest, kind);
        let cell = self.cell(id);
        let mut value = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*value {
            return Ok(value.clone());
        }
        let (made, bytes) = make()?;
        *value = Some(made.clone());
        drop(value);
        self.weigh(id, bytes);
        Ok(made)
    }

    /// The value of an artifact, where it is kept and nobody is making it.
    pub fn kept(&self, digest: &Digest, kind: TypeId) -> Option<Decoded> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.entries.get_mut(&(*digest, kind))?;
        entry.used = used;
        entry.cell.try_lock().ok()?.clone()
    }

    fn cell(&self, id: Id) -> Arc<Mutex<Option<Decoded>>> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.entries.entry(id).or_insert_with(|| Entry { cell: Arc::default(), bytes: 0, used });
        entry.used = used;
        entry.cell.clone()
    }

    fn weigh(&self, id: Id, bytes: usize) {
        let mut kept = self.lock();
        // It may have given way already.
        if let Some(entry) = kept.entries.get_mut(&id) {
            let before = std::mem::replace(&mut entry.bytes, bytes);
            kept.bytes = kept.bytes - before + bytes;
        }
        while kept.bytes > KEPT_BYTES && kept.entries.len() > 1 {
            let Some(oldest) = kept.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| *id) else {
                break;
            };
            if let Some(old) = kept.entries.remove(&oldest) {
                kept.bytes -= old.bytes;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ragstage_stages::error::StageErrorKind;
    use ragstage_stages::step::Step;

    use super::*;

    fn number(value: u32) -> (Decoded, usize) {
        (Arc::new(value), 4)
    }

    fn read<T: Copy + 'static>(value: Decoded) -> T {
        *value.downcast_ref::<T>().expect("the type that was asked for")
    }

    #[test]
    fn threads_that_ask_together_make_a_value_once() {
        let (kept, made) = (DecodedArtifacts::default(), AtomicUsize::new(0));
        let make = || {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(number(7))
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| kept.value(&Digest::of(b"a"), TypeId::of::<u32>(), &make).expect("a value"));
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn an_artifact_is_kept_as_each_of_its_types() {
        let (kept, digest) = (DecodedArtifacts::default(), Digest::of(b"a"));
        let as_number = kept.value(&digest, TypeId::of::<u32>(), &|| Ok(number(7))).expect("a value");
        let as_text = kept.value(&digest, TypeId::of::<&str>(), &|| Ok((Arc::new("seven"), 0))).expect("a value");
        assert_eq!((read::<u32>(as_number), read::<&str>(as_text)), (7, "seven"));
        let again = kept.value(&digest, TypeId::of::<u32>(), &|| Ok(number(8))).expect("a value");
        assert_eq!(read::<u32>(again), 7);
    }

    #[test]
    fn what_is_kept_is_there_without_being_made() {
        let (kept, digest) = (DecodedArtifacts::default(), Digest::of(b"a"));
        assert!(kept.kept(&digest, TypeId::of::<u32>()).is_none());
        kept.value(&digest, TypeId::of::<u32>(), &|| Ok(number(7))).expect("a value");
        assert_eq!(kept.kept(&digest, TypeId::of::<u32>()).map(read::<u32>), Some(7));
        assert!(kept.kept(&digest, TypeId::of::<u64>()).is_none());
        // Who makes a value may be asked for it again on the way.
        let make = || Ok(number(u32::from(kept.kept(&Digest::of(b"b"), TypeId::of::<u32>()).is_some())));
        assert_eq!(read::<u32>(kept.value(&Digest::of(b"b"), TypeId::of::<u32>(), &make).expect("a value")), 0);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let (kept, digest) = (DecodedArtifacts::default(), Digest::of(b"a"));
        let fail = || Err(StageError { step: Step::Score, kind: StageErrorKind::Cancelled });
        assert!(kept.value(&digest, TypeId::of::<u32>(), &fail).is_err());
        assert!(kept.value(&digest, TypeId::of::<u32>(), &|| Ok(number(7))).is_ok());
    }

    #[test]
    fn the_least_recently_used_gives_way() {
        let kept = DecodedArtifacts::default();
        let ask = |name: &[u8], value: u32, bytes: usize| {
            let make = || Ok((Arc::new(value) as Decoded, bytes));
            read::<u32>(kept.value(&Digest::of(name), TypeId::of::<u32>(), &make).expect("a value"))
        };
        let half = KEPT_BYTES / 2;
        ask(b"a", 1, half);
        ask(b"b", 2, half);
        ask(b"a", 3, half);
        ask(b"c", 4, half);
        assert_eq!((ask(b"a", 5, half), ask(b"c", 6, half), ask(b"b", 7, half)), (1, 4, 7));
    }
}
