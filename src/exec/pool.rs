//! A named pool of calls: its depth, its rate, its retries and its breaker (DESIGN section 5).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ragstage_stages::contract::{Call, Meter, Spend};
use ragstage_stages::error::{RowError, RowErrorKind};

use super::interrupt::Interrupt;
use super::ledger::{Grant, Ledger, Reservation};

/// What a pool may do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolLimits {
    /// Calls in flight at once, over all actions.
    pub concurrency: usize,
    /// Calls begun per minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens of the calls begun per minute.
    pub tokens_per_minute: Option<u32>,
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
            tokens_per_minute: None,
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
/// The longest time that the tokens of one call hold up the calls after it.
const LONGEST_TOKENS: Duration = Duration::from_secs(3600);
/// How often a call that waits for a place looks again, since neither an interruption nor the ledger wakes it.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The same for a call that waits for others to say what they cost.
const LOOK_FOR_MONEY: Duration = Duration::from_millis(10);

/// What is known of a call before it is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expected {
    /// The most that it may cost.
    pub spend: Spend,
    /// Whether its caller asks again for less at once where it is refused: such a refusal says nothing of the provider.
    pub divisible: bool,
}

#[derive(Default)]
struct Gate {
    in_flight: usize,
    next_start: Option<Instant>,
    /// When the tokens of all calls so far have had their minutes.
    tokens_settled: Option<Instant>,
    failed_in_a_row: u32,
    succeeded: u64,
    /// The last failure of a call that reached nobody, or that was one too many for them.
    out_of_reach: Option<RowError>,
    /// Whether a call failed in another way: then somebody is there.
    answered: bool,
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
    /// A call was not made for want of money, the first of the run.
    OverBudget(&'a RowError),
}

/// What became of a call that asked for a place.
enum Entered<'a> {
    Place(Reservation<'a>),
    Closed(RowError),
    OverBudget { error: RowError, first: bool },
}

/// A pool, shared by all threads of a run.
pub struct CallPool {
    limits: PoolLimits,
    interrupt: Interrupt,
    ledger: Arc<Ledger>,
    gate: Mutex<Gate>,
    freed: Condvar,
    jitter: RandomState,
}

impl CallPool {
    /// A pool with nothing in flight.
    pub fn new(limits: PoolLimits, interrupt: Interrupt, ledger: Arc<Ledger>) -> Self {
        CallPool {
            limits,
            interrupt,
            ledger,
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

    /// Whether the provider could not be used at all: refused us, closed before a single call succeeded, or was never reached
    /// by the few calls there were.
    pub fn unusable(&self) -> Option<Closed> {
        let gate = self.gate();
        if let Some(closed) = &gate.closed {
            return (closed.refused || gate.succeeded == 0).then(|| closed.clone());
        }
        let out_of_reach = || gate.out_of_reach.clone().map(|error| Closed { refused: false, error });
        (gate.succeeded == 0 && !gate.answered).then(out_of_reach).flatten()
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
        expected: Expected,
        make: &dyn Fn(&Call) -> Result<T, RowError>,
        notice: &dyn Fn(Notice<'_>),
    ) -> Option<Result<T, RowError>> {
        let mut attempt = 1;
        loop {
            let reservation = match self.enter(expected.spend)? {
                Entered::Place(reservation) => reservation,
                Entered::Closed(error) => return Some(Err(RowError { attempts: attempt - 1, ..error })),
                Entered::OverBudget { error, first } => {
                    if first {
                        notice(Notice::OverBudget(&error));
                    }
                    return Some(Err(RowError { attempts: attempt - 1, ..error }));
                }
            };
            let meter = Meter::default();
            let outcome = make(&Call { timeout: self.limits.timeout, attempt, meter: meter.clone() });
            let spent = meter.total();
            reservation.settle(spent);
            let error = match outcome {
                Ok(value) => {
                    self.correct(expected.spend.tokens, spent.tokens);
                    self.leave(None);
                    return Some(Ok(value));
                }
                Err(error) => RowError { attempts: attempt, ..error },
            };
            // Nobody said what a call cost that came to nothing: the server may have read all of it.
            if spent.tokens > 0 {
                self.correct(expected.spend.tokens, spent.tokens);
            }
            let wait = self.wait_before(attempt + 1, &error);
            match wait {
                Some(wait) => {
                    self.release();
                    notice(Notice::Retry { attempt, wait, error: &error });
                    self.pause(wait);
                    attempt += 1;
                }
                None if expected.divisible && error.kind.of_the_request() => {
                    self.release();
                    return Some(Err(error));
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

    /// Takes a place, when one is free, the rates allow it and the budget holds it. `None`: interrupted or halted.
    fn enter(&self, expected: Spend) -> Option<Entered<'_>> {
        let mut gate = self.gate();
        loop {
            if self.interrupt.asked() || gate.halted {
                return None;
            }
            if let Some(closed) = &gate.closed {
                let kind = if closed.refused { closed.error.kind } else { RowErrorKind::BreakerOpen };
                let error = RowError::new(kind, format!("not tried, after {}", closed.error));
                return Some(Entered::Closed(error));
            }
            let now = Instant::now();
            let start = gate.next_start.max(gate.tokens_settled).unwrap_or(now).max(now);
            let free = gate.in_flight < self.concurrency();
            let pause = if !free {
                LOOK_AGAIN
            } else if start > now {
                start - now
            } else {
                match self.ledger.reserve(expected) {
                    Grant::Given(reservation) => {
                        gate.in_flight += 1;
                        if let Some(rate) = self.limits.requests_per_minute {
                            gate.next_start = Some(now + Duration::from_secs_f64(60.0 / f64::from(rate.max(1))));
                        }
                        if self.limits.tokens_per_minute.is_some() {
                            gate.tokens_settled = now.checked_add(self.time_of(expected.tokens));
                        }
                        return Some(Entered::Place(reservation));
                    }
                    Grant::Refused { error, first } => return Some(Entered::OverBudget { error, first }),
                    Grant::Later => LOOK_FOR_MONEY,
                }
            };
            let (next, _) =
                self.freed.wait_timeout(gate, pause.min(LOOK_AGAIN)).unwrap_or_else(PoisonError::into_inner);
            gate = next;
        }
    }

    /// The share of a minute that so many tokens take.
    fn time_of(&self, tokens: u64) -> Duration {
        let per_minute = f64::from(self.limits.tokens_per_minute.unwrap_or(u32::MAX).max(1));
        Duration::try_from_secs_f64(tokens as f64 * 60.0 / per_minute).unwrap_or(LONGEST_TOKENS).min(LONGEST_TOKENS)
    }

    /// A call that was let in for `expected` tokens took `spent`.
    fn correct(&self, expected: u64, spent: u64) {
        if self.limits.tokens_per_minute.is_none() || expected == spent {
            return;
        }
        let (expected, spent) = (self.time_of(expected), self.time_of(spent));
        let mut gate = self.gate();
        gate.tokens_settled = gate.tokens_settled.and_then(|settled| settled.checked_add(spent)?.checked_sub(expected));
        drop(gate);
        self.freed.notify_all();
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
                match error.kind {
                    RowErrorKind::Connection | RowErrorKind::RateLimited => gate.out_of_reach = Some(error.clone()),
                    _ => gate.answered = true,
                }
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
        CallPool::new(limits, Interrupt::default(), Arc::default())
    }

    fn failing(kind: RowErrorKind) -> RowError {
        RowError { retry_after_s: Some(0), ..RowError::new(kind, "scripted") }
    }

    #[test]
    fn transient_failures_are_tried_again_and_counted() {
        let calls = AtomicU32::new(0);
        let pool = pool(PoolLimits::default());
        let outcome = pool.call(
            Expected::default(),
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
                Expected::default(),
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
        pool.call::<()>(Expected::default(), &|_| Ok(()), &|_| {});
        pool.call::<()>(Expected::default(), &|_| Err(failing(RowErrorKind::Auth)), &|_| {});
        let next = pool.call::<()>(Expected::default(), &|_| Ok(()), &|_| {});
        assert_eq!(next.and_then(Result::err).map(|e| (e.kind, e.attempts)), Some((RowErrorKind::Auth, 0)));
        assert!(pool.unusable().is_some_and(|closed| closed.refused));
    }

    #[test]
    fn failures_in_a_row_open_the_breaker_and_a_success_starts_the_count_again() {
        let pool = pool(PoolLimits { retries: 0, breaker: 3, ..PoolLimits::default() });
        let fail = || pool.call::<()>(Expected::default(), &|_| Err(failing(RowErrorKind::Connection)), &|_| {});
        fail();
        fail();
        pool.call::<()>(Expected::default(), &|_| Ok(()), &|_| {});
        fail();
        fail();
        assert!(pool.closed().is_none());
        fail();
        assert!(pool.closed().is_some());
        assert!(pool.unusable().is_none(), "one call succeeded, so the provider could be used");
        assert_eq!(fail().and_then(Result::err).map(|e| e.kind), Some(RowErrorKind::BreakerOpen));
    }

    #[test]
    fn a_provider_that_no_call_reached_is_unusable_however_few_they_were() {
        let limits = PoolLimits { retries: 0, ..PoolLimits::default() };
        let fail = |pool: &CallPool, kind| {
            pool.call::<()>(Expected::default(), &|_| Err(failing(kind)), &|_| {});
        };
        let unreached = pool(limits);
        assert!(unreached.unusable().is_none(), "nothing was asked");
        fail(&unreached, RowErrorKind::Connection);
        assert!(unreached.closed().is_none());
        assert!(unreached.unusable().is_some_and(|why| why.error.kind == RowErrorKind::Connection));
        fail(&unreached, RowErrorKind::BadReply);
        assert!(unreached.unusable().is_none(), "somebody is there");
    }

    #[test]
    fn a_closed_or_halted_pool_ends_the_waits_between_attempts() {
        let close: [fn(&CallPool); 2] = [
            |pool| pool.halt(),
            |pool| drop(pool.call::<()>(Expected::default(), &|_| Err(failing(RowErrorKind::Auth)), &|_| {})),
        ];
        for close in close {
            let pool = pool(PoolLimits::default());
            let waits = |_: Notice<'_>| close(&pool);
            let later = || RowError { retry_after_s: Some(300), ..RowError::new(RowErrorKind::RateLimited, "later") };
            let calls = AtomicU32::new(0);
            let call = |_: &Call| {
                calls.fetch_add(1, Ordering::SeqCst);
                Err::<(), _>(later())
            };
            pool.call(Expected::default(), &call, &waits);
            assert_eq!(calls.load(Ordering::SeqCst), 1, "there is no second attempt");
        }
    }

    #[test]
    fn a_rate_spreads_the_calls() {
        let pool = pool(PoolLimits { requests_per_minute: Some(1200), ..PoolLimits::default() });
        let start = Instant::now();
        for _ in 0..3 {
            pool.call::<()>(Expected::default(), &|_| Ok(()), &|_| {});
        }
        assert!(start.elapsed() >= Duration::from_millis(100), "three calls at 20 per second begin 50 ms apart");
    }

    #[test]
    fn an_interrupted_pool_makes_no_call() {
        let pool = pool(PoolLimits::default());
        pool.interrupt.ask();
        assert!(pool.call::<()>(Expected::default(), &|_| Ok(()), &|_| {}).is_none());
    }

    #[test]
    fn tokens_spread_the_calls_by_what_they_took() {
        let limits = PoolLimits { tokens_per_minute: Some(60_000), ..PoolLimits::default() };
        let spend = |tokens| Spend { tokens, nano_usd: 0 };
        let call = |pool: &CallPool, expected: u64, spent: u64| {
            let expected = Expected { spend: spend(expected), divisible: false };
            let make = |call: &Call| {
                call.meter.add(spend(spent));
                Ok::<_, RowError>(())
            };
            assert_eq!(pool.call(expected, &make, &|_| {}), Some(Ok(())));
        };
        let pool = pool(limits);
        let start = Instant::now();
        // A thousand tokens take a second: expected were two, and it took a tenth of one.
        call(&pool, 2000, 100);
        call(&pool, 10, 10);
        let taken = start.elapsed();
        assert!((Duration::from_millis(100)..Duration::from_millis(2000)).contains(&taken), "{taken:?}");
    }

    #[test]
    fn a_refusal_of_a_divisible_call_does_not_count() {
        let pool = pool(PoolLimits { breaker: 2, ..PoolLimits::default() });
        let refuse = |divisible, kind| {
            let expected = Expected { divisible, ..Expected::default() };
            pool.call::<()>(expected, &|_| Err(RowError::new(kind, "scripted")), &|_| {})
        };
        for _ in 0..5 {
            refuse(true, RowErrorKind::Refused);
            refuse(true, RowErrorKind::BadReply);
        }
        assert_eq!(pool.closed(), None);
        refuse(false, RowErrorKind::Refused);
        refuse(false, RowErrorKind::Refused);
        assert!(pool.closed().is_some());
    }

    #[test]
    fn calls_wait_for_the_cost_of_others_and_no_call_breaks_the_budget() {
        let ledger = Arc::new(Ledger::new(Some(1e-6)));
        let pool = CallPool::new(PoolLimits::default(), Interrupt::default(), ledger.clone());
        let made = AtomicU32::new(0);
        let over = AtomicU32::new(0);
        let failed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let expected = Expected { spend: Spend { tokens: 1, nano_usd: 250 }, divisible: false };
                    let make = |call: &Call| {
                        made.fetch_add(1, Ordering::SeqCst);
                        call.meter.add(Spend { tokens: 1, nano_usd: 100 });
                        // Paid for, whatever comes of it.
                        Err::<(), _>(RowError::new(RowErrorKind::Document, "scripted"))
                    };
                    let notice = |notice: Notice<'_>| {
                        if matches!(notice, Notice::OverBudget(_)) {
                            over.fetch_add(1, Ordering::SeqCst);
                        }
                    };
                    let outcome = pool.call(expected, &make, &notice).expect("not interrupted");
                    if outcome.is_err_and(|error| error.kind == RowErrorKind::Budget) {
                        failed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        // 8 calls spend 800; another may cost 250.
        assert_eq!((made.into_inner(), failed.into_inner(), over.into_inner()), (8, 12, 1));
        assert_eq!(ledger.account().map(|account| account.spent_usd), Some(8e-7));
    }
}
