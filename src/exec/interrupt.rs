//! Ctrl-C: the first asks the run to stop, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A request to stop, shared by all threads of a run.
#[derive(Clone, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Asks the run to stop.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
    }

    /// Whether the run was asked to stop.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// Sleeps, but not through a request to stop. Returns whether the whole time passed.
    pub fn sleep(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            if self.asked() {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }
}
