//! `status`.

use std::path::Path;

use ragstage_stages::step::Stage;
use serde_json::json;

use super::failure::Failure;
use super::flags::{Format, StatusFlags};
use super::open::{look, tell_incidents};
use super::out::{out, out_json};
use crate::batch::Settings;
use crate::exit;
use crate::plan::Standing;

/// Shows how each stage stands and what the last run did.
///
/// # Errors
/// When a file is invalid or the store cannot be read.
pub fn status(flags: &StatusFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let look = look(&flags.files, Settings::default(), store)?;
    let batch = &look.batch;
    let plan = batch.plan()?;
    let stages: Vec<(Stage, [usize; 3])> = Stage::ALL
        .into_iter()
        .map(|stage| {
            let count =
                |standing| plan.entries.iter().filter(|e| e.step.stage() == stage && e.standing == standing).count();
            (stage, [count(Standing::Fresh), count(Standing::Stale), count(Standing::Cascade)])
        })
        .collect();
    let runs = batch.shared.store.runs();
    let mut last = Vec::new();
    for evaluation in &batch.evaluations {
        let run = runs.latest(&evaluation.name)?;
        let outcome: Option<serde_json::Value> = match &run {
            Some(run) => runs.read_json(run.id(), "outcome.json")?,
            None => None,
        };
        last.push((evaluation.name.clone(), run.map(|run| run.id().to_string()), outcome));
    }
    match flags.format {
        Format::Json => out_json(&json!({
            "format": "ragstage.status.v1",
            "store": look.place.exists.then(|| look.place.root.display().to_string()),
            "stages": stages.iter().map(|(stage, [fresh, stale, cascade])| json!({
                "stage": stage.name(), "fresh": fresh, "stale": stale, "cascade": cascade,
            })).collect::<Vec<_>>(),
            "evaluations": last.iter().map(|(name, run, outcome)| json!({
                "name": name, "last_run": run, "outcome": outcome,
            })).collect::<Vec<_>>(),
        }))?,
        Format::Text => {
            let mut text = format!("{:<12} {:>7} {:>7} {:>7}\n", "stage", "fresh", "stale", "after");
            for (stage, [fresh, stale, cascade]) in stages {
                text += &format!("{:<12} {fresh:>7} {stale:>7} {cascade:>7}\n", stage.name());
            }
            for (name, run, outcome) in last {
                text += &match (run, outcome) {
                    (None, _) => format!("{name}: never run\n"),
                    (Some(run), None) => format!("{name}: last run {run} did not end; the same command continues it\n"),
                    (Some(run), Some(outcome)) if outcome["errors"] == json!(["interrupted"]) => {
                        format!("{name}: last run {run} was interrupted; the same command continues it\n")
                    }
                    (Some(run), Some(outcome)) => format!(
                        "{name}: last run {run}: {} ran, {} fresh, {} items failed, {} errors\n",
                        outcome["executed"],
                        outcome["fresh"],
                        outcome["failed_items"],
                        outcome["errors"].as_array().map_or(0, Vec::len)
                    ),
                };
            }
            let root = look.place.root.display();
            text += &match look.place.exists {
                true => format!("store: {root}\n"),
                false => format!("store: none yet; a run makes {root}\n"),
            };
            out(&text)?;
        }
    }
    tell_incidents(batch);
    Ok(exit::OK)
}
