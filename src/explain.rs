//! Why an action is stale, or why it last ran: its key's preimage, the nearest earlier one, and the root causes.

use std::collections::BTreeMap;

use ragstage_cache::manifest::FieldChange;
use ragstage_cache::{Digest, Manifest, Store};
use serde::Serialize;

use crate::exec::{RecordedAction, RunError};
use crate::graph::NodeId;
use crate::plan::{Plan, Planner, RowFact, Standing};
use crate::stale::StaleReason;

/// How many run records are searched for an earlier key.
const RUNS_SEARCHED: usize = 100;

/// What is known of one action.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Label.
    pub label: String,
    /// How it stands now.
    pub standing: Standing,
    /// Its key, where its inputs are known.
    pub key: Option<Digest>,
    /// Why it has to run; empty when it is fresh.
    pub reasons: Vec<StaleReason>,
    /// The preimage of its key: `path` and value.
    pub preimage: Vec<(String, String)>,
    /// The run with the nearest earlier key, and that key.
    pub earlier: Option<(String, Digest)>,
    /// What differs from the earlier key.
    pub changes: Vec<FieldChange>,
    /// The root causes: changes that are no input, here and in what this action depends on.
    pub causes: Vec<Cause>,
    /// The rows that were asked about.
    pub rows: Vec<RowFact>,
}

/// A root cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The action in whose own parameters it is.
    pub label: String,
    /// The parameter with its old and new value.
    pub change: FieldChange,
}

/// The keys of one earlier run.
struct EarlierRun {
    id: String,
    actions: BTreeMap<String, RecordedAction>,
}

/// Explains the nodes `ids` of `plan`; `item` asks about single rows.
///
/// # Errors
/// When the store or a source file cannot be read.
pub fn explain(
    planner: &Planner<'_>,
    plan: &Plan,
    ids: &[NodeId],
    evaluations: &[String],
    item: Option<&str>,
) -> Result<Vec<Explanation>, RunError> {
    let runs = earlier_runs(&planner.shared.store, evaluations)?;
    ids.iter().map(|&id| one(planner, plan, id, &runs, item)).collect()
}

fn earlier_runs(store: &Store, evaluations: &[String]) -> Result<Vec<EarlierRun>, RunError> {
    let mut runs = Vec::new();
    for run in store.runs().list()?.into_iter().filter(|run| evaluations.contains(&run.evaluation)).take(RUNS_SEARCHED)
    {
        // A run that was killed early has no such file.
        if let Some(actions) = store.runs().read_json(&run.id, crate::exec::ACTIONS_FILE)? {
            runs.push(EarlierRun { id: run.id, actions });
        }
    }
    Ok(runs)
}

fn one(
    planner: &Planner<'_>,
    plan: &Plan,
    id: NodeId,
    runs: &[EarlierRun],
    item: Option<&str>,
) -> Result<Explanation, RunError> {
    let entry = plan.entry(id);
    let manifest = planner.manifest(plan, id)?;
    let earlier = entry.key.and_then(|key| {
        runs.iter().find_map(|run| run.actions.get(&entry.label).filter(|old| old.key != key).map(|old| (run, old.key)))
    });
    let mut changes = Vec::new();
    let mut causes = Vec::new();
    if let (Some((run, old)), Some(new)) = (&earlier, &manifest) {
        if let Some(old) = planner.shared.store.actions().manifest(old)? {
            changes = Manifest::diff(&old, new);
        }
        trace(planner, plan, id, run, &mut causes)?;
    }
    let rows = match item {
        Some(item) => planner.rows(plan, id, item)?,
        None => Vec::new(),
    };
    Ok(Explanation {
        label: entry.label.clone(),
        standing: entry.standing,
        key: entry.key,
        reasons: entry.reasons.clone(),
        preimage: manifest
            .map(|manifest| manifest.leaves().into_iter().map(|(path, value)| (path, value.to_string())).collect())
            .unwrap_or_default(),
        earlier: earlier.map(|(run, key)| (run.id.clone(), key)),
        changes,
        causes,
        rows,
    })
}

/// Follows changed inputs to the parameters that changed, comparing with one and the same earlier run.
fn trace(
    planner: &Planner<'_>,
    plan: &Plan,
    id: NodeId,
    run: &EarlierRun,
    causes: &mut Vec<Cause>,
) -> Result<(), RunError> {
    let mut open = vec![id];
    let mut seen = vec![id];
    while let Some(id) = open.pop() {
        let entry = plan.entry(id);
        let Some(old) = run.actions.get(&entry.label) else { continue };
        if entry.key == Some(old.key) {
            continue;
        }
        if let (Some(new), Some(old)) =
            (planner.manifest(plan, id)?, planner.shared.store.actions().manifest(&old.key)?)
        {
            let files_are_roots = entry.step.stage() == ragstage_stages::step::Stage::Prepare;
            for change in Manifest::diff(&old, &new) {
                // Prepare's inputs are the user's own files: there is nothing further up.
                if !change.input || files_are_roots {
                    let cause = Cause { label: entry.label.clone(), change };
                    if !causes.contains(&cause) {
                        causes.push(cause);
                    }
                }
            }
        }
        for &input in &plan.graph.node(id).inputs {
            if !seen.contains(&input) {
                seen.push(input);
                open.push(input);
            }
        }
    }
    Ok(())
}
