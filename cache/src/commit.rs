//! Group commit: one flush to the device for all who wait for one.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How far a file that grows is known to be on the device. Positions are counts of bytes appended.
#[derive(Debug, Default)]
pub(crate) struct GroupCommit {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    synced: u64,
    /// Whether a thread is flushing for all.
    led: bool,
    failed: Option<Failed>,
}

/// After a failed flush the kernel may drop the pages and let the next flush succeed, so the failure is remembered for
/// every position it concerned.
#[derive(Debug)]
struct Failed {
    after: u64,
    upto: u64,
    code: Option<i32>,
}

impl GroupCommit {
    /// Returns when all up to `position` is on the device. One of those that wait calls `flush`, which says up to where
    /// it flushed and how that went.
    pub(crate) fn wait_for(&self, position: u64, flush: impl Fn() -> (u64, io::Result<()>)) -> io::Result<()> {
        let mut progress = self.lock();
        loop {
            if let Some(failed) = &progress.failed
                && failed.after < position
                && position <= failed.upto
            {
                let unknown = || io::Error::other("an earlier flush failed");
                return Err(failed.code.map_or_else(unknown, io::Error::from_raw_os_error));
            }
            if progress.synced >= position {
                return Ok(());
            }
            if progress.led {
                progress = self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            progress.led = true;
            drop(progress);
            let (upto, result) = flush();
            progress = self.lock();
            progress.led = false;
            progress.settle(upto, result);
            self.changed.notify_all();
        }
    }

    /// Notes a flush that was made outside of [`GroupCommit::wait_for`].
    pub(crate) fn settle(&self, upto: u64, result: io::Result<()>) {
        self.lock().settle(upto, result);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn settle(&mut self, upto: u64, result: io::Result<()>) {
        match result {
            Ok(()) => self.synced = self.synced.max(upto),
            Err(error) => {
                let after = self.failed.as_ref().map_or(self.synced, |failed| failed.after.min(self.synced));
                self.failed = Some(Failed { after, upto, code: error.raw_os_error() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_flush_serves_all_who_wait() {
        let commit = GroupCommit::default();
        let (flushes, written, ready) = (AtomicU64::new(0), AtomicU64::new(0), Barrier::new(8));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let position = written.fetch_add(1, Ordering::SeqCst) + 1;
                    // All eight have written before anyone waits, so the first flush covers them all.
                    ready.wait();
                    let flush = || {
                        flushes.fetch_add(1, Ordering::SeqCst);
                        (written.load(Ordering::SeqCst), Ok(()))
                    };
                    commit.wait_for(position, flush).expect("flush");
                });
            }
        });
        assert_eq!(flushes.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_flush_stays_failed_for_what_it_concerned() {
        let commit = GroupCommit::default();
        commit.wait_for(10, || (10, Ok(()))).expect("flush");
        assert!(commit.wait_for(20, || (30, Err(io::Error::from_raw_os_error(5)))).is_err());
        commit.wait_for(40, || (40, Ok(()))).expect("flush");
        assert_eq!(commit.wait_for(25, || (40, Ok(()))).expect_err("failed").raw_os_error(), Some(5));
        commit.wait_for(10, || (40, Ok(()))).expect("was there before");
    }
}
