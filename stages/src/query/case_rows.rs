//! The rows of a unit's cases: each computed once, measured, and handed to every case that it belongs to.

use std::collections::HashMap;
use std::time::Instant;

use ragstage_cache::{Digest, Walk};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::artifact::{Observation, Queries, Query, Unit};
use crate::contract::{
    Call, Check, ComputeTogether, Context, Cost, Free, Pool, Row, RowBatch, RowItem, RowOutcome, Spend,
};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::model::ModelUsage;
use crate::step::Step;

/// The unit's queries, in its case order.
pub(super) fn queries_of<'q>(
    unit: &Unit,
    queries: &'q Queries,
    digest: &Digest,
    step: Step,
) -> Result<Vec<&'q Query>, StageError> {
    let missing = |row: usize| StageError {
        step,
        kind: StageErrorKind::Artifact {
            digest: *digest,
            why: format!("unit {} names row {row} of {} queries", unit.unit_id, queries.rows.len()),
        },
    };
    unit.case_positions(queries.rows.len())
        .into_iter()
        .map(|row| queries.rows.get(row).ok_or_else(|| missing(row)))
        .collect()
}

/// What a case's row depends on beyond its slot.
pub(super) struct CaseKey<'a> {
    pub key: Digest,
    pub case_id: &'a str,
}

/// The row of every case, in case order. Cases with equal keys share one row, so that a system that never says the same
/// thing twice is asked once and a cold run gives what a warm one gives.
pub(super) fn rows_of(
    context: &dyn Context,
    slot: &dyn Walk,
    (pool, cost): (Pool, &dyn Cost),
    cases: &[CaseKey<'_>],
    compute: &(dyn Fn(usize, &Call) -> Result<Row, RowError> + Sync),
) -> Result<Vec<RowOutcome>, StageError> {
    let distinct = DistinctRows::of(cases);
    let batch = RowBatch { slot, pool, items: &distinct.items, cost };
    let outcomes = context.rows(batch, &|item, call| match distinct.firsts.get(item) {
        Some(case) => compute(*case, call),
        None => Err(RowError::new(RowErrorKind::BadReply, format!("there is no row {item}"))),
    })?;
    Ok(distinct.spread(&outcomes))
}

/// Whether the cases' missing rows can be asked for: see [`Context::check_before`].
pub(super) fn check_before(
    context: &dyn Context,
    slot: &dyn Walk,
    pool: Pool,
    cases: &[CaseKey<'_>],
    check: &Check<'_>,
) -> Result<Result<(), RowError>, StageError> {
    let distinct = DistinctRows::of(cases);
    context.check_before(&RowBatch { slot, pool, items: &distinct.items, cost: &Free }, check)
}

/// As [`rows_of`], where all missing rows are computed at once: `compute` gets the positions of their cases.
pub(super) fn rows_together_of(
    context: &dyn Context,
    slot: &dyn Walk,
    cases: &[CaseKey<'_>],
    compute: &ComputeTogether<'_>,
) -> Result<Vec<RowOutcome>, StageError> {
    let distinct = DistinctRows::of(cases);
    let batch = RowBatch { slot, pool: Pool::Cpu, items: &distinct.items, cost: &Observed };
    let outcomes = context.rows_together(batch, &|items| {
        let cases: Vec<usize> = items.iter().filter_map(|&item| distinct.firsts.get(item).copied()).collect();
        compute(&cases)
    })?;
    Ok(distinct.spread(&outcomes))
}

/// What rows have cost that are there already: what models took for them. A missing one costs nothing itself: what it asks of
/// models is in rows of their own, or nobody can tell what a system's models will take.
pub(crate) struct Observed;

impl Cost for Observed {
    fn estimate(&self, _: usize) -> Spend {
        Spend::default()
    }

    fn of(&self, row: &Row) -> Spend {
        let observation: Observation = serde_json::from_slice(&row.observation).unwrap_or_default();
        spend_of(&observation.usage)
    }
}

/// What models took, together.
pub(crate) fn spend_of(usage: &[ModelUsage]) -> Spend {
    let spend = |usage: &ModelUsage| Spend {
        tokens: usage.usage.prompt_tokens.saturating_add(usage.usage.completion_tokens),
        nano_usd: usage.nano_usd,
    };
    usage.iter().fold(Spend::default(), |sum, usage| sum.plus(spend(usage)))
}

/// The rows of some cases, each once.
struct DistinctRows<'a> {
    items: Vec<RowItem<'a>>,
    /// Of each row, the first case that it is of.
    firsts: Vec<usize>,
    /// Of each case, its row.
    row_of_case: Vec<usize>,
}

impl<'a> DistinctRows<'a> {
    fn of(cases: &'a [CaseKey<'a>]) -> Self {
        let mut rows = DistinctRows { items: Vec::new(), firsts: Vec::new(), row_of_case: Vec::new() };
        let mut known: HashMap<Digest, usize> = HashMap::new();
        for (case, CaseKey { key, case_id }) in cases.iter().enumerate() {
            let row = *known.entry(*key).or_insert_with(|| {
                rows.firsts.push(case);
                rows.items.push(RowItem { key: *key, label: case_id });
                rows.firsts.len() - 1
            });
            rows.row_of_case.push(row);
        }
        rows
    }

    fn spread(&self, outcomes: &[RowOutcome]) -> Vec<RowOutcome> {
        let lost = || RowOutcome::Failed(RowError::new(RowErrorKind::Interrupted, "the row was not computed"));
        self.row_of_case.iter().map(|&row| outcomes.get(row).cloned().unwrap_or_else(lost)).collect()
    }
}

/// Computes a value and keeps how long it took.
pub(super) fn measured<T: Serialize>(
    call: &Call,
    compute: impl FnOnce() -> Result<T, RowError>,
) -> Result<Row, RowError> {
    let start = Instant::now();
    let value = compute().map_err(|error| RowError { attempts: call.attempt, ..error })?;
    let latency_ms = Some(start.elapsed().as_secs_f64() * 1000.0);
    row_of(&value, &Observation { latency_ms, attempts: call.attempt, ..Observation::default() })
}

/// A value and what was observed of it, as the row cache keeps them.
pub(crate) fn row_of<T: Serialize>(value: &T, observation: &Observation) -> Result<Row, RowError> {
    let bytes = |json: Result<Vec<u8>, serde_json::Error>| {
        json.map_err(|error| RowError::new(RowErrorKind::BadReply, format!("the row is no JSON: {error}")))
    };
    Ok(Row { value: bytes(serde_json::to_vec(value))?, observation: bytes(serde_json::to_vec(observation))? })
}

/// The value of a row, as `measured` wrote it.
pub(super) fn value_of<T: DeserializeOwned>(row: &Row, key: &Digest, step: Step) -> Result<T, StageError> {
    serde_json::from_slice(&row.value).map_err(|error| StageError {
        step,
        kind: StageErrorKind::Artifact { digest: *key, why: format!("is no row of {step}: {error}") },
    })
}

/// What was observed of a case's row. A row without a readable observation has none: the law does not ask for it.
pub(super) fn observation_of(outcome: &RowOutcome, case_id: &str) -> Observation {
    let observation = match outcome {
        RowOutcome::Done(row) => serde_json::from_slice(&row.observation).unwrap_or_default(),
        RowOutcome::Failed(error) => Observation { attempts: error.attempts, ..Observation::default() },
    };
    Observation { case_id: case_id.to_string(), ..observation }
}
