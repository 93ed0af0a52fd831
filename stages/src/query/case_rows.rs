//! The rows of a unit's cases: each computed once, measured, and handed to every case that it belongs to.

use std::collections::HashMap;
use std::time::Instant;

use ragstage_cache::{Digest, Walk};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::artifact::{Observation, Queries, Query, Unit};
use crate::contract::{Call, Context, Pool, Row, RowBatch, RowItem, RowOutcome};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
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
    pool: Pool,
    cases: &[CaseKey<'_>],
    compute: &(dyn Fn(usize, &Call) -> Result<Row, RowError> + Sync),
) -> Result<Vec<RowOutcome>, StageError> {
    let mut firsts: Vec<usize> = Vec::new();
    let mut known: HashMap<Digest, usize> = HashMap::new();
    let mut row_of_case = Vec::with_capacity(cases.len());
    for (case, CaseKey { key, .. }) in cases.iter().enumerate() {
        row_of_case.push(*known.entry(*key).or_insert_with(|| {
            firsts.push(case);
            firsts.len() - 1
        }));
    }
    let items: Vec<RowItem<'_>> = firsts
        .iter()
        .filter_map(|case| cases.get(*case))
        .map(|case| RowItem { key: case.key, label: case.case_id })
        .collect();
    let batch = RowBatch { slot, pool, items: &items };
    let outcomes = context.rows(batch, &|item, call| match firsts.get(item) {
        Some(case) => compute(*case, call),
        None => Err(RowError::new(RowErrorKind::BadReply, format!("there is no row {item}"))),
    })?;
    let lost = || RowOutcome::Failed(RowError::new(RowErrorKind::Interrupted, "the row was not computed"));
    Ok(row_of_case.into_iter().map(|row| outcomes.get(row).cloned().unwrap_or_else(lost)).collect())
}

/// Computes a value and keeps how long it took.
pub(super) fn measured<T: Serialize>(
    call: &Call,
    compute: impl FnOnce() -> Result<T, RowError>,
) -> Result<Row, RowError> {
    let start = Instant::now();
    let value = compute().map_err(|error| RowError { attempts: call.attempt, ..error })?;
    let latency_ms = Some(start.elapsed().as_secs_f64() * 1000.0);
    let observation = Observation { case_id: String::new(), latency_ms, attempts: call.attempt };
    let bytes = |json: Result<Vec<u8>, serde_json::Error>| {
        json.map_err(|error| RowError::new(RowErrorKind::BadReply, format!("the row is no JSON: {error}")))
    };
    Ok(Row { value: bytes(serde_json::to_vec(&value))?, observation: bytes(serde_json::to_vec(&observation))? })
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
