//! `latency`: how long responses took. An observation: another run measures other numbers.

use serde::{Deserialize, Serialize};

use super::action::ResponseTable;
use super::case_list::CaseList;
use super::distribution::{mean, nearest_rank};
use super::observed::Observed;
use super::planned_query::PlannedQuery;
use crate::contract::{Artifact, Context};
use crate::error::{DecodeError, StageError};
use crate::step::Step;

/// The latencies of an evaluation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// One entry per recipe and query, in the evaluation's order.
    pub queries: Vec<QueryLatency>,
}

/// The latencies of one query mode of one recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryLatency {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// Of retrieval alone.
    pub retrieve: Option<LatencyStatistics>,
    /// Of the answer alone.
    pub answer: Option<LatencyStatistics>,
    /// Of both together, over the cases where both are known.
    pub total: Option<LatencyStatistics>,
}

/// Latencies of cases that succeeded, in milliseconds. Percentiles are by nearest rank: the smallest latency such that at
/// least that share of the cases took no longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyStatistics {
    /// How many cases.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

impl LatencyStatistics {
    /// The statistics of `values` in case order; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(LatencyStatistics {
            count: values.len() as u64,
            mean_ms: mean(values)?,
            p50_ms: nearest_rank(&sorted, 50.0)?,
            p95_ms: nearest_rank(&sorted, 95.0)?,
            p99_ms: nearest_rank(&sorted, 99.0)?,
        })
    }
}

impl Latency {
    /// Reads the latencies of every query of `plan`, in its order.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        plan: &[PlannedQuery],
        tables: &[ResponseTable],
        cases: &CaseList,
    ) -> Result<Self, StageError> {
        let mut queries = Vec::new();
        for planned in plan {
            let (mut retrieve, mut answer, mut total) = (Vec::new(), Vec::new(), Vec::new());
            for (unit, observed) in Observed::all(context, step, planned, tables, cases)? {
                for row in 0..cases.range(unit).len() {
                    retrieve.extend(observed.retrieve(row));
                    answer.extend(observed.answer(row));
                    total.extend(observed.total(row));
                }
            }
            queries.push(QueryLatency {
                recipe: planned.recipe.clone(),
                query: planned.query.clone(),
                retrieve: LatencyStatistics::of(&retrieve),
                answer: LatencyStatistics::of(&answer),
                total: LatencyStatistics::of(&total),
            });
        }
        Ok(Latency { queries })
    }
}

impl Artifact for Latency {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let statistics = LatencyStatistics::of(&[40.0, 10.0, 30.0, 20.0]).expect("four");
        assert_eq!((statistics.count, statistics.mean_ms), (4, 25.0));
        assert_eq!((statistics.p50_ms, statistics.p95_ms, statistics.p99_ms), (20.0, 40.0, 40.0));
        assert_eq!(LatencyStatistics::of(&[]), None);
    }
}
