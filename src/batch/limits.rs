//! How much a batch does at once: what its flags and evaluation files allow together.

use std::time::Duration;

use ragstage_stages::contract::Pool;

use super::settings::Settings;
use crate::evaluation::{Evaluation, Limits};
use crate::exec::PoolLimits;

/// Actions that compute at once.
pub(super) fn jobs(settings: &Settings, evaluations: &[Evaluation]) -> usize {
    let asked = settings.jobs.or_else(|| evaluations.iter().filter_map(|evaluation| evaluation.limits.jobs).min());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or(cores).max(1)
}

/// One pool serves all evaluations of a batch, so each of its limits is the strictest that any of them sets.
pub(super) fn strictest(limits: &[&Limits], pool: Pool) -> PoolLimits {
    let all = || limits.iter().filter_map(|limits| limits.pool(pool));
    let default = PoolLimits::default();
    PoolLimits {
        concurrency: all().map(|limits| limits.concurrency).min().unwrap_or(default.concurrency),
        requests_per_minute: all().filter_map(|limits| limits.requests_per_minute).min(),
        tokens_per_minute: all().filter_map(|limits| limits.tokens_per_minute).min(),
        timeout: all().map(|limits| Duration::from_secs_f64(limits.timeout_s)).min().unwrap_or(default.timeout),
        retries: all().map(|limits| limits.retries).min().unwrap_or(default.retries),
        breaker: all().map(|limits| limits.breaker).filter(|&n| n > 0).min().unwrap_or(0),
    }
}

/// All evaluations of a batch spend from one budget, the smallest that any of them sets.
pub(super) fn budget_usd(limits: &[&Limits]) -> Option<f64> {
    limits.iter().filter_map(|limits| limits.budget_usd).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_the_strictest_limits_of_each_pool() {
        let mut a = Limits { budget_usd: Some(5.0), ..Limits::default() };
        a.llm.concurrency = 2;
        a.llm.tokens_per_minute = Some(9000);
        a.embeddings.breaker = 0;
        let mut b = Limits { budget_usd: Some(0.5), ..Limits::default() };
        b.llm.tokens_per_minute = Some(1000);
        b.llm.requests_per_minute = Some(7);
        b.embeddings.timeout_s = 3.0;
        let c = Limits::default();
        let all = [&a, &b, &c];
        let llm = PoolLimits {
            concurrency: 2,
            requests_per_minute: Some(7),
            tokens_per_minute: Some(1000),
            timeout: Duration::from_secs(120),
            retries: 4,
            breaker: 10,
        };
        assert_eq!(strictest(&all, Pool::Llm), llm);
        let embeddings = PoolLimits { concurrency: 4, timeout: Duration::from_secs(3), ..PoolLimits::default() };
        assert_eq!(strictest(&all, Pool::Embeddings), embeddings);
        assert_eq!(strictest(&all, Pool::Queries), PoolLimits::default());
        assert_eq!((budget_usd(&all), budget_usd(&[&c])), (Some(0.5), None));
    }
}
