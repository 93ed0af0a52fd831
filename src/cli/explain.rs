//! `explain`.

use std::path::Path;

use serde_json::json;

use super::failure::Failure;
use super::flags::{ExplainFlags, Format};
use super::open::{look, tell_incidents};
use super::out::{out, out_json};
use crate::batch::Settings;
use crate::exec::RunError;
use crate::exit;
use crate::explain::{Explanation, explain as explain_nodes};
use crate::graph::NodeId;
use crate::plan::{Plan, Planner};

/// Actions that are explained in full before they are only counted.
const MOST_SHOWN: usize = 8;

/// Says why a stage, or one of its items, is stale or last ran.
///
/// # Errors
/// When a file is invalid, the store cannot be read, or nothing is called what was asked about.
pub fn explain(flags: &ExplainFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let file = flags.item.last().filter(|item| {
        let path = Path::new(item);
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") || path.is_file()
    });
    if let Some(file) = file
        && let Some(named) = flags.file.iter().find(|named| !named.exists())
    {
        return Err(Failure::NotThere {
            what: format!("there is no {}, and {file:?} is taken for an item", named.display()),
            hint: format!("name the evaluation file with --file {file}"),
        });
    }
    let look = look(&flags.file, Settings::default(), store)?;
    let batch = &look.batch;
    let plan = batch.plan()?;
    let planner = batch.planner();
    let of_stage: Vec<NodeId> =
        plan.graph.nodes().filter(|(_, node)| flags.stage.0.contains(&node.step)).map(|(id, _)| id).collect();
    let mut chosen = of_stage;
    for item in &flags.item {
        chosen = choose(&planner, &plan, chosen, item)?;
    }
    let explanations = explain_nodes(&planner, &plan, &chosen, flags.item.last().map(String::as_str))?;
    if explanations.is_empty() {
        let what = match flags.item.is_empty() {
            false => {
                let asked = flags.item.join(" ");
                format!("no action of that stage, and none of its items, is called {asked:?}")
            }
            true => "there is no action of that stage".to_string(),
        };
        let hint = match file {
            Some(file) => format!("{file:?} is taken for an item; name an evaluation file with --file {file}"),
            None => "`ragstage plan --all` lists the actions; items are case and document ids".to_string(),
        };
        return Err(Failure::NotThere { what, hint });
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
    tell_incidents(batch);
    Ok(exit::OK)
}

/// What `item` means: a word of the actions' labels (a unit, a recipe, a query, an evaluator), else a case or document, else
/// any part of a label. In this order, since `1` may be a case, and is in `evidence_recall@10` too.
fn choose(planner: &Planner<'_>, plan: &Plan, ids: Vec<NodeId>, item: &str) -> Result<Vec<NodeId>, RunError> {
    let label = |id: &NodeId| plan.entry(*id).label.as_str();
    let word = |id: &NodeId| label(id) == item || label(id).split([' ', '/']).any(|word| word == item);
    if ids.iter().any(word) {
        return Ok(ids.into_iter().filter(word).collect());
    }
    let mut with_row = Vec::new();
    for &id in &ids {
        if !planner.rows(plan, id, item)?.is_empty() {
            with_row.push(id);
        }
    }
    if with_row.is_empty() {
        with_row = ids.into_iter().filter(|id| label(id).contains(item)).collect();
    }
    Ok(with_row)
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
        text += &match &row.place {
            Some(place) => {
                let cached = if place.cached { "in the row cache" } else { "not in the row cache: would be computed" };
                format!("  row {} (key {}, slot {}): {cached}\n", row.item, place.key.short(), place.slot.short())
            }
            None => format!("  row {}: whether it is cached shows when what it depends on has run\n", row.item),
        };
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
        }
    }
    if !explanation.causes.is_empty() {
        text += "  root causes\n";
    }
    for cause in &explanation.causes {
        text += &format!("    {}: {}\n", cause.label, cause.reason);
    }
    text
}

fn shown(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("(absent)")
}
