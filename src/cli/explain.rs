//! `explain`.

use std::path::Path;

use serde_json::json;

use super::failure::Failure;
use super::flags::{ExplainFlags, Format};
use super::open::{quiet_batch, tell_incidents};
use super::out::{out, out_json};
use crate::batch::Settings;
use crate::exit;
use crate::explain::{Explanation, explain as explain_nodes};
use crate::graph::NodeId;

/// Actions that are explained in full before they are only counted.
const MOST_SHOWN: usize = 8;

/// Says why a stage, or one of its items, is stale or last ran.
///
/// # Errors
/// When a file is invalid, the store cannot be read, or nothing is called what was asked about.
pub fn explain(flags: &ExplainFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let batch = quiet_batch(&flags.file, Settings::default(), store)?;
    let plan = batch.plan()?;
    let planner = batch.planner();
    let of_stage: Vec<NodeId> =
        plan.graph.nodes().filter(|(_, node)| flags.stage.0.contains(&node.step)).map(|(id, _)| id).collect();
    let names: Vec<String> = batch.evaluations.iter().map(|evaluation| evaluation.name.clone()).collect();
    let named: Vec<NodeId> = match &flags.item {
        Some(item) => of_stage.iter().copied().filter(|id| plan.entry(*id).label.contains(item.as_str())).collect(),
        None => of_stage.clone(),
    };
    let explanations = if named.is_empty() {
        // Not part of a label: then it is a case or a document.
        let all = explain_nodes(&planner, &plan, &of_stage, &names, flags.item.as_deref())?;
        all.into_iter().filter(|explanation| !explanation.rows.is_empty()).collect()
    } else {
        explain_nodes(&planner, &plan, &named, &names, None)?
    };
    if explanations.is_empty() {
        let item = flags.item.as_deref().unwrap_or_default();
        return Err(Failure::NotThere {
            what: format!("no action of that stage, and none of its items, is called {item:?}"),
            hint: "`ragstage plan --all` lists the actions; items are case and document ids".to_string(),
        });
    }
    match flags.format {
        Format::Json => {
            out_json(&json!({"format": "ragstage.explain.v1", "actions": explanations}))?;
        }
        Format::Text => {
            let mut text = String::new();
            for explanation in explanations.iter().take(MOST_SHOWN) {
                text += &paragraph(explanation);
            }
            if explanations.len() > MOST_SHOWN {
                text += &format!(
                    "... and {} more; name a unit, recipe, query or evaluator to choose\n",
                    explanations.len() - MOST_SHOWN
                );
            }
            out(&text)?;
        }
    }
    tell_incidents(&batch);
    Ok(exit::OK)
}

fn paragraph(explanation: &Explanation) -> String {
    let mut text = format!("{} is {}", explanation.label, explanation.standing.name());
    if let Some(key) = &explanation.key {
        text += &format!(" (key {})", key.short());
    }
    text.push('\n');
    for reason in &explanation.reasons {
        text += &format!("  because {reason}\n");
    }
    for row in &explanation.rows {
        let cached = if row.cached { "in the row cache" } else { "not in the row cache: would be computed" };
        text += &format!("  row {} (key {}, slot {}): {cached}\n", row.item, row.key.short(), row.slot.short());
    }
    text += "  its key holds\n";
    for (path, value) in &explanation.preimage {
        text += &format!("    {path} = {value}\n");
    }
    match &explanation.earlier {
        None => text += "  no earlier run had another key for it\n",
        Some((run, key)) => {
            text += &format!("  compared with {} of run {run}\n", key.short());
            for change in &explanation.changes {
                let kind = if change.input { " (input)" } else { "" };
                text += &format!("    {}{kind}: {} -> {}\n", change.path, shown(&change.old), shown(&change.new));
            }
            if !explanation.causes.is_empty() {
                text += "  root causes\n";
            }
            for cause in &explanation.causes {
                let change = &cause.change;
                text += &format!(
                    "    {}: {}: {} -> {}\n",
                    cause.label,
                    change.path,
                    shown(&change.old),
                    shown(&change.new)
                );
            }
        }
    }
    text
}

fn shown(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("(absent)")
}
