//! `limits`: how much runs at once, and how long calls may take. Nothing of it is in a key.

use ragstage_stages::contract::Pool;

use super::recipe::{Recipe, RecipeKind};
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
            shape: Shape::Record(&SYSTEM_POOL),
            need: Need::Optional,
        },
        Field {
            name: "ingest",
            doc: "Calls that hand documents over to an OpenViking server; those to other systems are calls of `queries`.",
            shape: Shape::Record(&INGEST_POOL),
            need: Need::Optional,
        },
        Field {
            name: "embeddings",
            doc: "Calls of embedding endpoints.",
            shape: Shape::Record(&MODEL_POOL),
            need: Need::Optional,
        },
        Field {
            name: "rerank",
            doc: "Calls of reranking endpoints.",
            shape: Shape::Record(&MODEL_POOL),
            need: Need::Optional,
        },
        Field { name: "llm", doc: "Calls of chat models.", shape: Shape::Record(&LLM_POOL), need: Need::Optional },
        Field {
            name: "judge",
            doc: "Calls of chat models that judge responses.",
            shape: Shape::Record(&LLM_POOL),
            need: Need::Optional,
        },
        Field {
            name: "programs",
            doc: "Cases that evaluators of your own are given.",
            shape: Shape::Record(&PROGRAM_POOL),
            need: Need::Optional,
        },
        Field {
            name: "budget_usd",
            doc: "US dollars that one run may spend on models, at the prices that this file gives; no limit by default.",
            shape: Shape::Float(Range { min: 0.0, above_min: false, max: 1e9, below_max: false }),
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

static SYSTEM_POOL: Record = Record {
    name: "system_pool",
    doc: "Limits of the calls of systems under test.",
    fields: &[concurrency("8"), REQUESTS, timeout("60"), RETRIES, BREAKER],
    together: &[],
};

static INGEST_POOL: Record = Record {
    name: "ingest_pool",
    doc: "Limits of the calls that hand documents over.",
    fields: &[concurrency("10"), REQUESTS, timeout("3600"), RETRIES, BREAKER],
    together: &[],
};

static MODEL_POOL: Record = Record {
    name: "model_pool",
    doc: "Limits of the calls of a kind of models.",
    fields: &[concurrency("4"), REQUESTS, TOKENS, timeout("60"), RETRIES, BREAKER],
    together: &[],
};

static LLM_POOL: Record = Record {
    name: "llm_pool",
    doc: "Limits of the calls of chat models.",
    fields: &[concurrency("4"), REQUESTS, TOKENS, timeout("120"), RETRIES, BREAKER],
    together: &[],
};

static PROGRAM_POOL: Record = Record {
    name: "program_pool",
    doc: "Limits of evaluators that are programs of your own.",
    fields: &[concurrency("2"), timeout("60"), RETRIES, BREAKER],
    together: &[],
};

const fn concurrency(default: &'static str) -> Field {
    Field {
        name: "concurrency",
        doc: "Calls in flight.",
        shape: Shape::Int { min: 1, max: 1024 },
        need: Need::Default(default),
    }
}

const fn timeout(default: &'static str) -> Field {
    Field {
        name: "timeout_s",
        doc: "Seconds that one call may take.",
        shape: Shape::Float(Range { min: 0.0, above_min: true, max: 86_400.0, below_max: false }),
        need: Need::Default(default),
    }
}

const REQUESTS: Field = Field {
    name: "requests_per_minute",
    doc: "Calls begun per minute; no limit by default.",
    shape: Shape::Int { min: 1, max: 1_000_000 },
    need: Need::Optional,
};

const TOKENS: Field = Field {
    name: "tokens_per_minute",
    doc: "Tokens of the calls begun per minute, read and written; no limit by default.",
    shape: Shape::Int { min: 1, max: 4_000_000_000 },
    need: Need::Optional,
};

const RETRIES: Field = Field {
    name: "retries",
    doc: "Further attempts after a fault that may pass.",
    shape: Shape::Int { min: 0, max: 100 },
    need: Need::Default("4"),
};

const BREAKER: Field = Field {
    name: "breaker",
    doc: "Failed calls in a row after which no more are made; 0 for never.",
    shape: Shape::Int { min: 0, max: 1_000_000 },
    need: Need::Default("10"),
};

/// How much runs at once, and what happens after a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Actions that run at once; the number of cores when `None`.
    pub jobs: Option<usize>,
    /// Calls of systems under test.
    pub queries: PoolLimits,
    /// Calls that hand documents over to a system under test.
    pub ingest: PoolLimits,
    /// Calls of embedding endpoints.
    pub embeddings: PoolLimits,
    /// Calls of reranking endpoints.
    pub rerank: PoolLimits,
    /// Calls of chat models.
    pub llm: PoolLimits,
    /// Calls of chat models that judge responses.
    pub judge: PoolLimits,
    /// Cases that evaluators which are programs of the user's own are given.
    pub programs: PoolLimits,
    /// US dollars that one run may spend; no limit when `None`.
    pub budget_usd: Option<f64>,
    /// Whether the rest goes on when an item fails.
    pub keep_going: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            jobs: None,
            queries: PoolLimits::new(8, 60.0),
            ingest: PoolLimits::new(10, 3600.0),
            embeddings: PoolLimits::new(4, 60.0),
            rerank: PoolLimits::new(4, 60.0),
            llm: PoolLimits::new(4, 120.0),
            judge: PoolLimits::new(4, 120.0),
            programs: PoolLimits::new(2, 60.0),
            budget_usd: None,
            keep_going: true,
        }
    }
}

impl Limits {
    /// The limits of a pool; `None` where rows are no calls.
    pub fn pool(&self, pool: Pool) -> Option<&PoolLimits> {
        match pool {
            Pool::Cpu => None,
            Pool::Queries => Some(&self.queries),
            Pool::Ingest => Some(&self.ingest),
            Pool::Embeddings => Some(&self.embeddings),
            Pool::Rerank => Some(&self.rerank),
            Pool::Llm => Some(&self.llm),
            Pool::Judge => Some(&self.judge),
            Pool::Programs => Some(&self.programs),
        }
    }
}

/// Limits of a pool of calls.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolLimits {
    /// Calls in flight.
    pub concurrency: usize,
    /// Calls begun per minute; no limit when `None`.
    pub requests_per_minute: Option<u32>,
    /// Tokens of the calls begun per minute; no limit when `None`.
    pub tokens_per_minute: Option<u32>,
    /// Seconds that one call may take.
    pub timeout_s: f64,
    /// Further attempts after a fault that may pass.
    pub retries: u32,
    /// Failed calls in a row after which no more are made; 0 for never.
    pub breaker: u32,
}

impl PoolLimits {
    /// So many calls in flight, each of so many seconds at most.
    fn new(concurrency: usize, timeout_s: f64) -> Self {
        PoolLimits {
            concurrency,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout_s,
            retries: 4,
            breaker: 10,
        }
    }
}

/// The limits that a checked `limits`, and the systems of `recipes`, stand for.
pub(super) fn convert(view: &View<'_>, recipes: &[Recipe]) -> Limits {
    let default = Limits::default();
    let pool = |name: &str, default: PoolLimits| {
        let pool = view.get(name);
        PoolLimits {
            concurrency: pool.get("concurrency").int().unwrap_or(default.concurrency),
            requests_per_minute: pool.get("requests_per_minute").int(),
            tokens_per_minute: pool.get("tokens_per_minute").int(),
            timeout_s: pool.get("timeout_s").float().unwrap_or(default.timeout_s),
            retries: pool.get("retries").int().unwrap_or(default.retries),
            breaker: pool.get("breaker").int().unwrap_or(default.breaker),
        }
    };
    let mut ingest = pool("ingest", default.ingest);
    let workers = recipes.iter().filter_map(|recipe| match &recipe.kind {
        RecipeKind::System(system) => system.ingest_workers,
        _ => None,
    });
    if let Some(workers) = workers.min() {
        let given = view.get("ingest").get("concurrency").is_given();
        ingest.concurrency = if given { workers.min(ingest.concurrency) } else { workers };
    }
    Limits {
        jobs: view.get("jobs").int(),
        queries: pool("queries", default.queries),
        ingest,
        embeddings: pool("embeddings", default.embeddings),
        rerank: pool("rerank", default.rerank),
        llm: pool("llm", default.llm),
        judge: pool("judge", default.judge),
        programs: pool("programs", default.programs),
        budget_usd: view.get("budget_usd").float(),
        keep_going: view.get("keep_going").bool().unwrap_or(default.keep_going),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<Limits, Vec<String>> {
        checked(text, &Shape::Record(&LIMITS), |view, _| convert(view, &[]))
    }

    #[test]
    fn defaults_spelled_out_mean_the_same() {
        assert_eq!(read("{}").unwrap(), Limits::default());
        assert_eq!(read(&spelled_out(LIMITS.fields)).unwrap(), Limits::default());
        let pools = [
            ("queries", &SYSTEM_POOL),
            ("ingest", &INGEST_POOL),
            ("embeddings", &MODEL_POOL),
            ("rerank", &MODEL_POOL),
            ("llm", &LLM_POOL),
            ("judge", &LLM_POOL),
            ("programs", &PROGRAM_POOL),
        ];
        for (name, pool) in pools {
            assert_eq!(read(&format!("{name}: {}", spelled_out(pool.fields))).unwrap(), Limits::default(), "{name}");
        }
    }

    #[test]
    fn every_limit_is_read() {
        let text = "{jobs: 2, queries: {concurrency: 1, requests_per_minute: 600, timeout_s: 0.5, retries: 0, \
                    breaker: 0}, llm: {tokens_per_minute: 90000, retries: 1}, budget_usd: 2.5, keep_going: false}";
        let queries = PoolLimits {
            concurrency: 1,
            requests_per_minute: Some(600),
            tokens_per_minute: None,
            timeout_s: 0.5,
            retries: 0,
            breaker: 0,
        };
        let llm = PoolLimits { tokens_per_minute: Some(90_000), retries: 1, ..PoolLimits::new(4, 120.0) };
        let expected =
            Limits { jobs: Some(2), queries, llm, budget_usd: Some(2.5), keep_going: false, ..Limits::default() };
        assert_eq!(read(text).unwrap(), expected);
        for pool in Pool::CALLS {
            assert!(expected.pool(pool).is_some(), "{pool:?}");
        }
    }

    #[test]
    fn limits_have_bounds() {
        assert_eq!(
            read("{jobs: 0, queries: {timeout_s: 0, retrys: 3}, budget_usd: -1}").unwrap_err(),
            [
                "1:8 jobs: expected a whole number from 1 to 1024, found 0",
                "1:32 queries.timeout_s: expected a number above 0 and at most 86400, found 0",
                "1:35 queries: unknown key `retrys` [did you mean `retries`?]",
                "1:59 budget_usd: expected a number from 0 to 1000000000, found -1",
            ]
        );
    }
}
