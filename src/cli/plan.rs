//! `plan`.

use std::collections::BTreeMap;
use std::path::Path;

use ragstage_stages::contract::Pool;
use ragstage_stages::step::{Stage, Step};
use serde_json::json;

use super::failure::Failure;
use super::flags::{Format, PlanFlags};
use super::open::{extra_evaluators, look, tell_incidents};
use super::out::{out, out_json};
use super::run::tell_lints;
use crate::batch::Settings;
use crate::exec::Account;
use crate::exit;
use crate::plan::{Entry, Plan, Standing, Totals};

/// Stale actions of one step that are listed before they are only counted.
const MOST_LISTED: usize = 12;

/// Says what would run.
///
/// # Errors
/// When a file is invalid or the store cannot be read.
pub fn plan(flags: &PlanFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let settings = Settings {
        until: flags.until.unwrap_or(Stage::Aggregate),
        evaluators: extra_evaluators(&flags.evaluator, &flags.evaluator_file)?,
        ..Settings::default()
    };
    let look = look(&flags.files, settings, store)?;
    let batch = &look.batch;
    let plan = batch.plan()?;
    tell_lints(&batch.evaluations);
    let totals = plan.totals();
    match flags.format {
        Format::Text => out(&text(&plan, flags.all))?,
        Format::Json => out_json(&json!({
            "format": "ragstage.plan.v1",
            "totals": totals,
            // What a system under test charges is its own affair. `totals.pools` says which calls the rest covers.
            "tokens": totals.spend().map(|spend| spend.tokens),
            "cost_usd": totals.spend().map(|spend| spend.usd()),
            "actions": plan.entries,
            "unprepared": plan.unprepared,
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
    text += &calls_line(&totals);
    for name in &plan.unprepared {
        text += &format!(
            "{name}: a program prints its benchmark, and a plan starts none. What follows it is not in this plan, nor are the calls: \
             `ragstage run --until prepare` lets them be planned.\n"
        );
    }
    text
}

/// What is to be asked of others, and what it takes.
fn calls_line(totals: &Totals) -> String {
    if totals.pools.is_empty() {
        return "Calls to come: none; tokens: none; cost: none.\n".to_string();
    }
    let bound = |at_least: bool| if at_least { "at least" } else { "at most" };
    let whose = |pool: Pool| match pool {
        Pool::Queries => "systems under test",
        Pool::Ingest => "systems that take documents in",
        Pool::Embeddings => "embedding endpoints",
        Pool::Rerank => "reranking endpoints",
        Pool::Llm => "chat models",
        Pool::Judge => "judges",
        Pool::Programs => "evaluators of your own",
        Pool::Cpu => "this machine",
    };
    let calls: Vec<String> = totals
        .pools
        .iter()
        .map(|pool| format!("{} {} of {}", bound(pool.at_least), Account::count(pool.calls), whose(pool.pool)))
        .collect();
    let unknown: Vec<&str> = totals.pools.iter().filter(|p| p.spend.is_none()).map(|p| whose(p.pool)).collect();
    let without = match unknown.is_empty() {
        true => String::new(),
        false => format!(", without those of {}", unknown.join(" and ")),
    };
    let spend = match totals.spend() {
        Some(spend) => {
            let bound = bound(totals.pools.iter().any(|pool| pool.spend.is_some() && pool.at_least));
            let (tokens, cost) = (Account::count(spend.tokens), Account::money(spend.usd()));
            format!("tokens: {bound} {tokens}; cost: {bound} ${cost}{without}")
        }
        None if totals.pools.iter().all(|pool| matches!(pool.pool, Pool::Queries | Pool::Ingest)) => {
            "tokens and cost: known to those systems only".to_string()
        }
        None => "tokens and cost: not known before what they depend on is there".to_string(),
    };
    // Nobody can tell without asking whether they are still there.
    let looks = match totals.looks {
        0 => String::new(),
        looks => format!(
            ", besides {looks} look{} whether the documents are still there, and handing them over again where they are gone",
            if looks == 1 { "" } else { "s" }
        ),
    };
    format!("Calls to come: {}{looks}; {spend}.\n", calls.join(", "))
}

fn line(entry: &Entry) -> String {
    let reasons: Vec<String> = entry.reasons.iter().map(ToString::to_string).collect();
    let rows = entry.rows.map_or_else(String::new, |rows| {
        let at_most = if entry.standing == Standing::Cascade { "at most " } else { "" };
        let kind = if rows.calls { "calls" } else { "rows" };
        format!(" [{at_most}{} of {} {kind}]", rows.missing, rows.total)
    });
    let asked =
        entry.calls.iter().filter(|calls| calls.calls > 0 && !matches!(calls.pool, Pool::Queries | Pool::Ingest));
    let asked: String = asked
        .map(|calls| {
            let bound = if calls.at_least { "at least" } else { "at most" };
            format!(" [{bound} {} {} calls]", calls.calls, calls.pool.name())
        })
        .collect();
    format!(
        "    {:<8} {}{rows}{asked}{}\n",
        entry.standing.name(),
        entry.label,
        match reasons.is_empty() {
            true => String::new(),
            false => format!(": {}", reasons.join("; ")),
        }
    )
}
