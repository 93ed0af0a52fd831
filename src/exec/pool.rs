//! A named pool of calls: its depth, its rate, its retries and its breaker (DESIGN section 5).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ragstage_stages::contract::{Call, Meter};
use ragstage_stages::error::{RowError, RowErrorKind};

use super::interrupt::Interrupt;

/// What a pool may do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolLimits {
    /// Calls in flight at once, over all actions.
    pub concurrency: usize,
    /// Calls begun per minute.
    pub requests_per_minute: Option<u32>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// Attempts beyond the first.
    pub retries: u32,
    /// Failed calls in a row that open the breaker; 0 for none.
    pub breaker: u32,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits {
            concurrency: 8,
            requests_per_minute: None,
            timeout: Duration::from_secs(60),
            retries: 4,
            breaker: 10,
        }
    }
}

/// The first wait; doubled for each further attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait of our own choosing.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The longest wait that a server may ask for before the row is given up for this run.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Gate {
    in_flight: usize,
    next_start: Option<Instant>,
    failed_in_a_row: u32,
    succeeded: u64,
    closed: Option<Closed>,
    halted: bool,
}

/// Why a pool makes no more calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Whether the provider refused us (auth), rather than that calls kept failing.
    pub refused: bool,
    /// The failure that closed the pool.
    pub error: RowError,
}

/// What a pool tells while it works.
pub enum Notice<'a> {
    /// An attempt failed; the next follows after the wait.
    Retry {
        /// The attempt that failed.
        attempt: u32,
        /// Time until the next.
        wait: Duration,
        /// Why.
        error: &'a RowError,
    },
    /// The pool makes no more calls.
    Closed(&'a Closed),
}

/// A pool, shared by all threads of a run.
pub struct CallPool {
    limits: PoolLimits,
    interrupt: Interrupt,
    gate: Mutex<Gate>,
    freed: Condvar,
    jitter: RandomState,
}

impl CallPool {
    /// A pool with nothing in flight.
    pub fn new(limits: PoolLimits, interrupt: Interrupt) -> Self {
        CallPool {
            limits,
            interrupt,
            gate: Mutex::new(Gate::default()),
            freed: Condvar::new(),
            jitter: RandomState::new(),
        }
    }

    /// How many calls may be in flight.
    pub fn concurrency(&self) -> usize {
        self.limits.concurrency.max(1)
    }

    /// Why the pool makes no more calls, if it does not.
    pub fn closed(&self) -> Option<Closed> {
        self.gate().closed.clone()
    }

    /// Whether the provider could not be used at all: closed before a single call succeeded, or refused.
    pub fn unusable(&self) -> Option<Closed> {
        let gate = self.gate();
        gate.closed.clone().filter(|closed| closed.refused || gate.succeeded == 0)
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes no more calls, since their results could not be kept. Calls in flight land.
    pub fn halt(&self) {
        self.gate().halted = true;
        self.freed.notify_all();
    }

    /// Makes a call, again where that may help. `None`: interrupted or halted before it was made.
    pub fn call<T>(
        &self,
        make: &dyn Fn(&Call) -> Result<T, RowError>,
        notice: &dyn Fn(Notice<'_>),
    ) -> Option<Result<T, RowError>> {
        let mut attempt = 1;
        loop {
            match self.enter()? {
                Ok(()) => {}
                Err(error) => return Some(Err(RowError { attempts: attempt - 1, ..error })),
            }
            let outcome = make(&Call { timeout: self.limits.timeout, attempt, meter: Meter::default() });
            let error = match outcome {
                Ok(value) => {
                    self.leave(None);
                    return Some(Ok(value));
                }
                Err(error) => RowError { attempts: attempt, ..error },
            };
            let wait = self.wait_before(attempt + 1, &error);
            match wait {
                Some(wait) => {
                    self.release();
                    notice(Notice::Retry { attempt, wait, error: &error });
                    self.pause(wait);
                    attempt += 1;
                }
                None => {
                    if let Some(closed) = self.leave(Some(&error)) {
                        notice(Notice::Closed(&closed));
                    }
                    return Some(Err(error));
                }
            }
        }
    }

    /// The wait before `attempt`, or `None` where there is none to be.
    fn wait_before(&self, attempt: u32, error: &RowError) -> Option<Duration> {
        if !error.kind.retryable() || attempt > self.limits.retries + 1 {
            return None;
        }
        if let Some(seconds) = error.retry_after_s {
            let asked = Duration::from_secs(seconds);
            return (asked <= LONGEST_RETRY_AFTER).then_some(asked);
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 2).min(10)).min(LONGEST_WAIT);
        // Between half and all of it, so that callers that failed together do not come back together.
        let share = self.jitter.hash_one((attempt, Instant::now())) % 1000;
        Some(doubled.mul_f64(0.5 + share as f64 / 2000.0))
    }

    /// Waits before another attempt, unless there will be none.
    fn pause(&self, wait: Duration) {
        let end = Instant::now() + wait;
        let mut gate = self.gate();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || gate.halted || gate.closed.is_some() || self.interrupt.asked() {
                return;
            }
            // In short steps: an interruption wakes nobody.
            let step = left.min(Duration::from_millis(50));
            gate = self.freed.wait_timeout(gate, step).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes a place, when one is free and the rate allows. `None`: interrupted or halted; `Err`: the pool is closed.
    fn enter(&self) -> Option<Result<(), RowError>> {
        let mut gate = self.gate();
        loop {
            if self.interrupt.asked() || gate.halted {
                return None;
            }
            if let Some(closed) = &gate.closed {
                let kind = if closed.refused { closed.error.kind } else { RowErrorKind::BreakerOpen };
                return Some(Err(RowError::new(kind, format!("not tried, after {}", closed.error))));
            }
            let now = Instant::now();
            let start = gate.next_start.unwrap_or(now).max(now);
            if gate.in_flight < self.concurrency() && start <= now {
                gate.in_flight += 1;
                if let Some(rate) = self.limits.requests_per_minute {
                    gate.next_start = Some(start + Duration::from_secs_f64(60.0 / f64::from(rate.max(1))));
                }
                return Some(Ok(()));
            }
            let pause = if gate.in_flight < self.concurrency() { start - now } else { Duration::from_millis(100) };
            let (next, _) = self
                .freed
                .wait_timeout(gate, pause.min(Duration::from_millis(100)))
                .unwrap_or_else(PoisonError::into_inner);
            gate = next;
        }
    }

    fn release(&self) {
        self.gate().in_flight -= 1;
        self.freed.notify_one();
    }

    /// Gives the place back and counts the call. Returns the reason if this call closed the pool.
    fn leave(&self, error: Option<&RowError>) -> Option<Closed> {
        let mut gate = self.gate();
        gate.in_flight -= 1;
        let mut closes = None;
        match error {
            None => {
                gate.failed_in_a_row = 0;
                gate.succeeded += 1;
            }
            Some(error) => {
                gate.failed_in_a_row += 1;
                let refused = error.kind == RowErrorKind::Auth;
                let broken = self.limits.breaker > 0 && gate.failed_in_a_row >= self.limits.breaker;
                if gate.closed.is_none() && (refused || broken) {
                    closes = Some(Closed { refused, error: error.clone() });
                    gate.closed = closes.clone();
                }
            }
        }
        drop(gate);
        self.freed.notify_all();
        closes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn pool(limits: PoolLimits) -> CallPool {
        CallPool::new(limits, Interrupt::default())
    }

    fn failing(kind: RowErrorKind) -> RowError {
        RowError { retry_after_s: Some(0), ..RowError::new(kind, "scripted") }
    }

    #[test]
    fn transient_failures_are_tried_again_and_counted() {
        let calls = AtomicU32::new(0);
        let pool = pool(PoolLimits::default());
        let outcome = pool.call(
            &|call| {
                calls.fetch_add(1, Ordering::SeqCst);
                if call.attempt < 3 { Err(failing(RowErrorKind::Server)) } else { Ok(call.attempt) }
            },
            &|_| {},
        );
        assert_eq!(outcome, Some(Ok(3)));
        assert_eq!(calls.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn refusals_are_not_tried_again_and_attempts_are_bounded() {
        let calls = AtomicU32::new(0);
        let pool = pool(PoolLimits { retries: 2, ..PoolLimits::default() });
        let call = |kind| {
            pool.call::<()>(
                &|_| {
                    calls.fetch_add(1, Ordering::SeqCst);
                    Err(failing(kind))
                },
                &|_| {},
            )
        };
        assert_eq!(call(RowErrorKind::Refused).and_then(Result::err).map(|e| e.attempts), Some(1));
        assert_eq!(call(RowErrorKind::RateLimited).and_then(Result::err).map(|e| e.attempts), Some(3));
        assert_eq!(calls.load(Ordering::SeqCst), 4);
    }

    #[test]
    fn an_auth_failure_closes_the_pool_at_once() {
        let pool = pool(PoolLimits::default());
        pool.call::<()>(&|_| Ok(()), &|_| {});
        pool.call::<()>(&|_| Err(failing(RowErrorKind::Auth)), &|_| {});
        let next = pool.call::<()>(&|_| Ok(()), &|_| {});
        assert_eq!(next.and_then(Result::err).map(|e| (e.kind, e.attempts)), Some((RowErrorKind::Auth, 0)));
        assert!(pool.unusable().is_some_and(|closed| closed.refused));
    }

    #[test]
    fn failures_in_a_row_open_the_breaker_and_a_success_starts_the_count_again() {
        let pool = pool(PoolLimits { retries: 0, breaker: 3, ..PoolLimits::default() });
        let fail = || pool.call::<()>(&|_| Err(failing(RowErrorKind::Connection)), &|_| {});
        fail();
        fail();
        pool.call::<()>(&|_| Ok(()), &|_| {});
        fail();
        fail();
        assert!(pool.closed().is_none());
        fail();
        assert!(pool.closed().is_some());
        assert!(pool.unusable().is_none(), "one call succeeded, so the provider could be used");
        assert_eq!(fail().and_then(Result::err).map(|e| e.kind), Some(RowErrorKind::BreakerOpen));
    }

    #[test]
    fn a_closed_or_halted_pool_ends_the_waits_between_attempts() {
        let close: [fn(&CallPool); 2] =
            [|pool| pool.halt(), |pool| drop(pool.call::<()>(&|_| Err(failing(RowErrorKind::Auth)), &|_| {}))];
        for close in close {
            let pool = pool(PoolLimits::default());
            let waits = |_: Notice<'_>| close(&pool);
            let later = || RowError { retry_after_s: Some(300), ..RowError::new(RowErrorKind::RateLimited, "later") };
            let calls = AtomicU32::new(0);
            let call = |_: &Call| {
                calls.fetch_add(1, Ordering::SeqCst);
                Err::<(), _>(later())
            };
            pool.call(&call, &waits);
            assert_eq!(calls.load(Ordering::SeqCst), 1, "there is no second attempt");
        }
    }

    #[test]
    fn a_rate_spreads_the_calls() {
        let pool = pool(PoolLimits { requests_per_minute: Some(1200), ..PoolLimits::default() });
        let start = Instant::now();
        for _ in 0..3 {
            pool.call::<()>(&|_| Ok(()), &|_| {});
        }
        assert!(start.elapsed() >= Duration::from_millis(100), "three calls at 20 per second begin 50 ms apart");
    }

    #[test]
    fn an_interrupted_pool_makes_no_call() {
        let pool = pool(PoolLimits::default());
        pool.interrupt.ask();
        assert!(pool.call::<()>(&|_| Ok(()), &|_| {}).is_none());
    }
}
