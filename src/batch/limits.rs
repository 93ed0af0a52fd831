//! How much a batch does at once: what its flags and evaluation files allow together.

use std::time::Duration;

use ragstage_stages::contract::Pool;

use super::settings::Settings;
use crate::evaluation::Evaluation;
use crate::exec::PoolLimits;

/// Actions that compute at once.
pub(super) fn jobs(settings: &Settings, evaluations: &[Evaluation]) -> usize {
    let asked = settings.jobs.or_else(|| evaluations.iter().filter_map(|evaluation| evaluation.limits.jobs).min());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or(cores).max(1)
}

/// One pool serves all evaluations of a batch, so each of its limits is the strictest that any of them sets.
pub(super) fn strictest(evaluations: &[Evaluation], pool: Pool) -> PoolLimits {
    let all = || evaluations.iter().filter_map(|evaluation| evaluation.limits.pool(pool));
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
pub(super) fn budget_usd(evaluations: &[Evaluation]) -> Option<f64> {
    evaluations.iter().filter_map(|evaluation| evaluation.limits.budget_usd).min_by(f64::total_cmp)
}
