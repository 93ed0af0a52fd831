//! A number of permits: as many threads hold one at once, the others wait.

use std::sync::{Condvar, Mutex, PoisonError};

/// Permits for some work that only so many threads may do at once.
pub struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
}

/// A permit; returned on drop.
pub struct Permit<'a> {
    permits: &'a Permits,
}

impl Permits {
    /// `count` permits, at least one.
    pub fn new(count: usize) -> Self {
        Permits { free: Mutex::new(count.max(1)), returned: Condvar::new() }
    }

    /// Takes a permit when one is free.
    pub fn take(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.returned.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit { permits: self }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.permits.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.permits.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_threads_hold_a_permit_than_there_are() {
        let (permits, holding, most) = (Permits::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _permit = permits.take();
                        most.fetch_max(holding.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        holding.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
    }

    #[test]
    fn a_thread_that_breaks_down_returns_its_permit() {
        let permits = Permits::new(1);
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _permit = permits.take();
            panic!("scripted");
        }));
        assert!(broken.is_err());
        drop(permits.take());
    }
}
