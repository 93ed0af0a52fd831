//! `plan`.

use std::collections::BTreeMap;
use std::path::Path;

use ragstage_stages::step::{Stage, Step};
use serde_json::json;

use super::failure::Failure;
use super::flags::{Format, PlanFlags};
use super::open::{extra_evaluators, look, tell_incidents};
use super::out::{out, out_json};
use crate::batch::Settings;
use crate::exit;
use crate::plan::{Entry, Plan, Standing};

/// Stale actions of one step that are listed before they are only counted.
const MOST_LISTED: usize = 12;

/// Says what would run.
///
/// # Errors
/// When a file is invalid or the store cannot be read.
pub fn plan(flags: &PlanFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let settings = Settings {
        until: flags.until.unwrap_or(Stage::Aggregate),
        evaluators: extra_evaluators(&flags.evaluator)?,
        ..Settings::default()
    };
    let look = look(&flags.files, settings, store)?;
    let batch = &look.batch;
    let plan = batch.plan()?;
    let totals = plan.totals();
    match flags.format {
        Format::Text => out(&text(&plan, flags.all))?,
        Format::Json => out_json(&json!({
            "format": "ragstage.plan.v1",
            "totals": totals,
            // Full-text search and extractive answers cost nothing, and what a system under test charges is its own affair.
            "tokens": if totals.calls == 0 { json!(0) } else { json!(null) },
            "cost_usd": if totals.calls == 0 { json!(0.0) } else { json!(null) },
            "actions": plan.entries,
        }))?,
    }
    let stale = totals.stale + totals.cascade > 0;
    tell_incidents(batch);
    Ok(if flags.check && stale { exit::STALE } else { exit::OK })
}

fn text(plan: &Plan, all: bool) -> String {
    let mut steps: BTreeMap<Step, Vec<&Entry>> = BTreeMap::new();
    for entry in &plan.entries {
        steps.entry(entry.step).or_default().push(entry);
    }
    let mut text = String::new();
    for (step, entries) in &steps {
        let count = |standing| entries.iter().filter(|entry| entry.standing == standing).count();
        let (fresh, stale, cascade) = (count(Standing::Fresh), count(Standing::Stale), count(Standing::Cascade));
        text += &format!("{:<16} {fresh} fresh, {stale} stale, {cascade} after them\n", step.name());
        let listed: Vec<&&Entry> = entries.iter().filter(|entry| all || entry.standing != Standing::Fresh).collect();
        for entry in listed.iter().take(if all { usize::MAX } else { MOST_LISTED }) {
            text += &line(entry);
        }
        if !all && listed.len() > MOST_LISTED {
            text += &format!("    ... and {} more (--all lists them)\n", listed.len() - MOST_LISTED);
        }
    }
    let totals = plan.totals();
    text += &if totals.stale + totals.cascade == 0 {
        format!("Nothing to do: all {} actions are up to date.\n", totals.fresh)
    } else {
        format!(
            "Actions: {} to run, up to {} more after them, {} up to date.\n",
            totals.stale, totals.cascade, totals.fresh
        )
    };
    text += &match totals.calls {
        0 => "Calls to come: none; tokens: none; cost: none.\n".to_string(),
        calls => format!(
            "Calls to come: at most {calls} of systems under test; tokens and cost: known to those systems only.\n"
        ),
    };
    text
}

fn line(entry: &Entry) -> String {
    let reasons: Vec<String> = entry.reasons.iter().map(ToString::to_string).collect();
    let rows = entry.rows.map_or_else(String::new, |rows| {
        let at_most = if entry.standing == Standing::Cascade { "at most " } else { "" };
        let kind = if rows.calls { "calls" } else { "rows" };
        format!(" [{at_most}{} of {} {kind}]", rows.missing, rows.total)
    });
    format!(
        "    {:<8} {}{rows}{}\n",
        entry.standing.name(),
        entry.label,
        match reasons.is_empty() {
            true => String::new(),
            false => format!(": {}", reasons.join("; ")),
        }
    )
}
