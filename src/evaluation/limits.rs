//! `limits`: how much runs at once, and how long calls may take. Nothing of it is in a key.

use super::shape::{Field, Need, Range, Record, Shape};
use super::view::View;

/// What `limits` accepts.
pub(super) static LIMITS: Record = Record {
    name: "limits",
    doc: "How much runs at once, and how long calls may take; changing it makes nothing stale.",
    fields: &[
        Field {
            name: "jobs",
            doc: "How many actions run at once; the number of cores by default.",
            shape: Shape::Int { min: 1, max: 1024 },
            need: Need::Optional,
        },
        Field {
            name: "queries",
            doc: "Calls of systems under test.",
            shape: Shape::Record(&POOL),
            need: Need::Optional,
        },
        Field {
            name: "keep_going",
            doc: "Whether the rest goes on when an item fails.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
    ],
    together: &[],
};

static POOL: Record = Record {
    name: "pool",
    doc: "Limits of a pool of calls.",
    fields: &[
        Field {
            name: "concurrency",
            doc: "Calls in flight.",
            shape: Shape::Int { min: 1, max: 1024 },
            need: Need::Default("8"),
        },
        Field {
            name: "requests_per_minute",
            doc: "Calls begun per minute; no limit by default.",
            shape: Shape::Int { min: 1, max: 1_000_000 },
            need: Need::Optional,
        },
        Field {
            name: "timeout_s",
            doc: "Seconds that one call may take.",
            shape: Shape::Float(Range { min: 0.0, above_min: true, max: 86_400.0, below_max: false }),
            need: Need::Default("60"),
        },
        Field {
            name: "retries",
            doc: "Further attempts after a fault that may pass.",
            shape: Shape::Int { min: 0, max: 100 },
            need: Need::Default("4"),
        },
        Field {
            name: "breaker",
            doc: "Failed calls in a row after which no more are made; 0 for never.",
            shape: Shape::Int { min: 0, max: 1_000_000 },
            need: Need::Default("10"),
        },
    ],
    together: &[],
};

/// How much runs at once, and what happens after a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Actions that run at once; the number of cores when `None`.
    pub jobs: Option<usize>,
    /// Calls of systems under test.
    pub queries: PoolLimits,
    /// Whether the rest goes on when an item fails.
    pub keep_going: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { jobs: None, queries: PoolLimits::default(), keep_going: true }
    }
}

/// Limits of a pool of calls.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolLimits {
    /// Calls in flight.
    pub concurrency: usize,
    /// Calls begun per minute; no limit when `None`.
    pub requests_per_minute: Option<u32>,
    /// Seconds that one call may take.
    pub timeout_s: f64,
    /// Further attempts after a fault that may pass.
    pub retries: u32,
    /// Failed calls in a row after which no more are made; 0 for never.
    pub breaker: u32,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits { concurrency: 8, requests_per_minute: None, timeout_s: 60.0, retries: 4, breaker: 10 }
    }
}

/// The limits that a checked `limits` stands for.
pub(super) fn convert(view: &View<'_>) -> Limits {
    let default = Limits::default();
    let pool = view.get("queries");
    Limits {
        jobs: view.get("jobs").int(),
        queries: PoolLimits {
            concurrency: pool.get("concurrency").int().unwrap_or(default.queries.concurrency),
            requests_per_minute: pool.get("requests_per_minute").int(),
            timeout_s: pool.get("timeout_s").float().unwrap_or(default.queries.timeout_s),
            retries: pool.get("retries").int().unwrap_or(default.queries.retries),
            breaker: pool.get("breaker").int().unwrap_or(default.queries.breaker),
        },
        keep_going: view.get("keep_going").bool().unwrap_or(default.keep_going),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<Limits, Vec<String>> {
        checked(text, &Shape::Record(&LIMITS), |view, _| convert(view))
    }

    #[test]
    fn defaults_spelled_out_mean_the_same() {
        assert_eq!(read("{}").unwrap(), Limits::default());
        assert_eq!(read(&spelled_out(LIMITS.fields)).unwrap(), Limits::default());
        assert_eq!(read(&format!("queries: {}", spelled_out(POOL.fields))).unwrap(), Limits::default());
    }

    #[test]
    fn every_limit_is_read() {
        let text = "{jobs: 2, queries: {concurrency: 1, requests_per_minute: 600, timeout_s: 0.5, retries: 0, \
         breaker: 0}, keep_going: false}";
        let queries =
            PoolLimits { concurrency: 1, requests_per_minute: Some(600), timeout_s: 0.5, retries: 0, breaker: 0 };
        assert_eq!(read(text).unwrap(), Limits { jobs: Some(2), queries, keep_going: false });
    }

    #[test]
    fn limits_have_bounds() {
        assert_eq!(
            read("{jobs: 0, queries: {timeout_s: 0, retrys: 3}}").unwrap_err(),
            [
                "1:8 jobs: expected a whole number from 1 to 1024, found 0",
                "1:32 queries.timeout_s: expected a number above 0 and at most 86400, found 0",
                "1:35 queries: unknown key `retrys` [did you mean `retries`?]",
            ]
        );
    }
}
