//! What became of a batch.

use std::path::PathBuf;

use ragstage_stages::aggregate::{GateOutcome, Summary};
use ragstage_stages::contract::Pool;

use crate::exec::{Account, Closed, RunError};

/// What became of one evaluation.
#[derive(Debug)]
pub struct EvaluationOutcome {
    /// Its name.
    pub name: String,
    /// Its run record, where one could be kept.
    pub run_id: Option<String>,
    /// Means with their coverage; none where the run ended before.
    pub summary: Option<Summary>,
    /// Its gates.
    pub gates: Vec<GateOutcome>,
    /// The files brought up to date, and whether their content changed.
    pub files: Vec<(PathBuf, bool)>,
    /// Items of its actions that failed and are tried again by the next run.
    pub failed_items: u64,
    /// Items that can never be computed from these inputs (documents that no parser reads, responses made elsewhere that
    /// failed there or are not there), in this run or an earlier one.
    pub rejected_items: u64,
    /// Of these, responses made elsewhere.
    pub rejected_responses: u64,
    /// Its actions that ran.
    pub executed: usize,
    /// Its actions that were there already.
    pub fresh: usize,
}

/// What became of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    /// Each evaluation.
    pub evaluations: Vec<EvaluationOutcome>,
    /// What failed as a whole.
    pub errors: Vec<RunError>,
    /// Actions that ran.
    pub executed: usize,
    /// Actions that were there already.
    pub fresh: usize,
    /// Rows computed.
    pub rows_computed: usize,
    /// The pools that made no more calls at some point, and those whose calls reached nobody.
    pub closed_pools: Vec<ClosedPool>,
    /// What was spent and saved, where there is anything of either.
    pub spend: Option<Account>,
}

/// A pool that made no more calls, or whose calls reached nobody.
#[derive(Debug)]
pub struct ClosedPool {
    /// Which.
    pub pool: Pool,
    /// Why.
    pub why: Closed,
    /// Whether not one of its calls succeeded, or the provider refused.
    pub unusable: bool,
}
