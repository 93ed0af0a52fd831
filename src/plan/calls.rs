//! Calls of somebody else that a planned action has to make.

use std::collections::BTreeMap;

use ragstage_stages::contract::{Pool, Spend};
use serde::Serialize;

/// Calls to come in one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CallsToCome {
    /// The pool.
    #[serde(serialize_with = "name")]
    pub pool: Pool,
    /// How many.
    pub calls: u64,
    /// Whether there will be more, unless they are cached; otherwise there will be no more.
    pub at_least: bool,
    /// The most that they take; none where nobody can tell before.
    pub spend: Option<Spend>,
}

fn name<S: serde::Serializer>(pool: &Pool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pool.name())
}

impl CallsToCome {
    /// All of `calls`, one entry per pool. What is known of the spend is summed up; `None` where nothing is.
    pub(super) fn by_pool<'a>(calls: impl Iterator<Item = &'a CallsToCome>) -> Vec<CallsToCome> {
        let mut pools: BTreeMap<Pool, CallsToCome> = BTreeMap::new();
        for call in calls.filter(|call| call.calls > 0) {
            pools
                .entry(call.pool)
                .and_modify(|sum| {
                    sum.calls += call.calls;
                    // A sum that lacks a part is a least.
                    sum.at_least |= call.at_least || sum.spend.is_some() != call.spend.is_some();
                    sum.spend = match (sum.spend, call.spend) {
                        (Some(a), Some(b)) => Some(a.plus(b)),
                        (a, b) => a.or(b),
                    };
                })
                .or_insert(*call);
        }
        pools.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_over_actions_is_as_sure_as_its_least_sure_part() {
        let call = |pool, calls, at_least, nano_usd: Option<u64>| CallsToCome {
            pool,
            calls,
            at_least,
            spend: nano_usd.map(|nano_usd| Spend { tokens: 2 * nano_usd, nano_usd }),
        };
        let all = [
            call(Pool::Llm, 2, false, Some(5)),
            call(Pool::Queries, 10, false, None),
            call(Pool::Llm, 3, true, None),
            call(Pool::Embeddings, 0, true, None),
            call(Pool::Queries, 1, false, None),
        ];
        let sum = [call(Pool::Queries, 11, false, None), call(Pool::Llm, 5, true, Some(5))];
        assert_eq!(CallsToCome::by_pool(all.iter()), sum);
        assert_eq!(
            serde_json::to_value(sum[1]).unwrap(),
            serde_json::json!({"pool": "llm", "calls": 5, "at_least": true, "spend": {"tokens": 10, "nano_usd": 5}})
        );
    }
}
