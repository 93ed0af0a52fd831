//! Why an action is stale, or why it last ran: its key's preimage, the nearest earlier one, and the root causes.

use ragstage_cache::manifest::FieldChange;
use ragstage_cache::{Digest, Manifest};
use ragstage_stages::step::Stage;
use serde::Serialize;

use crate::exec::RunError;
use crate::graph::NodeId;
use crate::plan::{Plan, Planner, RowFact, Standing, UNKNOWN};
use crate::stale::StaleReason;

/// What stands for the digest of an artifact that is not made yet.
const NOT_MADE: &str = "(not made yet)";

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
    /// The root causes: what is no consequence of something else, here and in what this action depends on.
    pub causes: Vec<Cause>,
    /// The rows that were asked about.
    pub rows: Vec<RowFact>,
}

/// A root cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The action that it is a cause of by itself.
    pub label: String,
    /// What it is.
    pub reason: StaleReason,
}

/// Explains the nodes `ids` of `plan`; `item` asks about single rows.
///
/// # Errors
/// When the store or a source file cannot be read.
pub fn explain(
    planner: &Planner<'_>,
    plan: &Plan,
    ids: &[NodeId],
    item: Option<&str>,
) -> Result<Vec<Explanation>, RunError> {
    ids.iter().map(|&id| one(planner, plan, id, item)).collect()
}

fn one(planner: &Planner<'_>, plan: &Plan, id: NodeId, item: Option<&str>) -> Result<Explanation, RunError> {
    let entry = plan.entry(id);
    let manifest = planner.manifest(plan, id)?;
    // Where an input is not made yet the key is not known, and may turn out to be the last one again.
    let earlier = planner.previous.all(&entry.label).find(|(_, old)| Some(old.key) != entry.key);
    let mut changes = Vec::new();
    let mut causes = Vec::new();
    if let Some((_, old)) = earlier
        && let Some(old) = planner.shared.store.actions().manifest(&old.key)?
    {
        changes = Manifest::diff(&old, &manifest);
        changes.iter_mut().for_each(not_made);
    }
    // A fresh action is compared with the run before it last changed, a stale one with what there is now.
    if let Some((run, _)) = earlier.filter(|_| entry.standing == Standing::Fresh) {
        trace(planner, plan, id, &|label| planner.previous.action_of(run, label).map(|old| old.key), &mut causes)?;
    } else if entry.standing != Standing::Fresh {
        trace(planner, plan, id, &|label| planner.previous.action(label).map(|old| old.key), &mut causes)?;
    }
    // What is not in the key leaves no change in it: the run in which it was found remembers it.
    let mut same = planner.previous.all(&entry.label).filter(|(_, old)| Some(old.key) == entry.key);
    for reason in same.find(|(_, old)| !old.reasons.is_empty()).into_iter().flat_map(|(_, old)| old.reasons.clone()) {
        causes.push(Cause { label: entry.label.clone(), reason });
    }
    let rows = match item {
        Some(item) => planner.rows(plan, id, item)?,
        None => Vec::new(),
    };
    let shown = |value: String| if value == unknown() { NOT_MADE.to_string() } else { value };
    Ok(Explanation {
        label: entry.label.clone(),
        standing: entry.standing,
        key: entry.key,
        reasons: entry.reasons.clone(),
        preimage: manifest.leaves().into_iter().map(|(path, value)| (path, shown(value.to_string()))).collect(),
        earlier: earlier.map(|(run, old)| (run.to_string(), old.key)),
        changes,
        causes,
        rows,
    })
}

/// [`UNKNOWN`] as manifests show it.
fn unknown() -> String {
    ragstage_cache::manifest::FieldValue::Digest(UNKNOWN).to_string()
}

fn not_made(change: &mut FieldChange) {
    if change.new.as_ref() == Some(&unknown()) {
        change.new = Some(NOT_MADE.to_string());
    }
}

/// Goes up from a node through everything that has another key than `earlier` says, and collects what is a cause by itself:
/// a parameter, a file, a lost artifact.
fn trace(
    planner: &Planner<'_>,
    plan: &Plan,
    id: NodeId,
    earlier: &dyn Fn(&str) -> Option<Digest>,
    causes: &mut Vec<Cause>,
) -> Result<(), RunError> {
    let mut open = vec![id];
    let mut seen = vec![id];
    while let Some(id) = open.pop() {
        let entry = plan.entry(id);
        let old = earlier(&entry.label);
        if entry.key.is_some() && entry.key == old && entry.standing == Standing::Fresh {
            continue;
        }
        for reason in own_reasons(planner, plan, id, old)? {
            let cause = Cause { label: entry.label.clone(), reason };
            if !causes.contains(&cause) {
                causes.push(cause);
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

/// The reasons of a node that follow from nothing further up.
fn own_reasons(
    planner: &Planner<'_>,
    plan: &Plan,
    id: NodeId,
    old: Option<Digest>,
) -> Result<Vec<StaleReason>, RunError> {
    let entry = plan.entry(id);
    // Prepare's inputs are the user's own files: there is nothing further up.
    let files_are_roots = entry.step.stage() == Stage::Prepare;
    let changed = match old.filter(|old| Some(*old) != entry.key) {
        Some(old) => planner.shared.store.actions().manifest(&old)?,
        None => None,
    };
    let reasons = match changed {
        Some(old) => Manifest::diff(&old, &planner.manifest(plan, id)?).into_iter().map(StaleReason::from).collect(),
        None => entry.reasons.clone(),
    };
    let own =
        |reason: &StaleReason| reason.is_root_cause() || files_are_roots && matches!(reason, StaleReason::Input { .. });
    Ok(reasons.into_iter().filter(own).collect())
}
