//! The pools of a run, one for each kind of call.

use std::sync::Arc;

use ragstage_stages::contract::Pool;

use super::interrupt::Interrupt;
use super::ledger::Ledger;
use super::pool::{CallPool, PoolLimits};

/// The pools of a run: each has its own depth, rates and breaker, and all share one budget.
pub struct Pools {
    pools: Vec<(Pool, CallPool)>,
}

impl Pools {
    /// Pools with nothing in flight.
    pub fn new(limits: &dyn Fn(Pool) -> PoolLimits, interrupt: &Interrupt, ledger: &Arc<Ledger>) -> Self {
        let pool = |pool| (pool, CallPool::new(limits(pool), interrupt.clone(), ledger.clone()));
        Pools { pools: Pool::CALLS.into_iter().map(pool).collect() }
    }

    /// The pool that makes the calls of `pool`; `None` where rows are no calls.
    pub fn of(&self, pool: Pool) -> Option<&CallPool> {
        self.pools.iter().find(|(known, _)| *known == pool).map(|(_, calls)| calls)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (Pool, &CallPool)> {
        self.pools.iter().map(|(pool, calls)| (*pool, calls))
    }

    /// How many calls may be in flight in all pools together.
    pub fn concurrency(&self) -> usize {
        self.all().map(|(_, calls)| calls.concurrency()).sum()
    }

    /// No pool makes more calls: the store cannot keep what they would bring.
    pub fn halt(&self) {
        self.all().for_each(|(_, calls)| calls.halt());
    }
}
