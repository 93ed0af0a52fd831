//! `run` and `score`.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use comfy_table::Table;
use ragstage_stages::aggregate::Headline;
use ragstage_stages::contract::Pool;
use ragstage_stages::step::{Stage, Step};
use serde_json::json;

use super::depfile;
use super::failure::{Failure, code_of, print_run_error};
use super::flags::{Format, RunFlags};
use super::open::{
    Secrets, StorePlace, evaluations, extra_evaluators, refuse_overwriting, require_secrets_of_evaluators, same_file,
    store_place,
};
use super::out::{out, out_json};
use crate::batch::{Batch, BatchOutcome, EvaluationOutcome, EventRecorder, Settings};
use crate::evaluation::{Evaluation, RecipeKind, ResponsesConfig, ResponsesPlace};
use crate::exec::{Account, Event, EventSink, Fanout, Interrupt};
use crate::exit;
use crate::graph::known_lints;
use crate::progress::{Bars, Lines};

/// What the command line changes of what the files say.
pub type Change<'a> = dyn Fn(&mut [Evaluation]) -> Result<(), Failure> + 'a;

/// Runs evaluations; `only_score` forbids everything that would ask a query or build a knowledge base.
///
/// # Errors
/// When a file is invalid, or the batch fails as a whole.
pub fn run(flags: &RunFlags, store: Option<&Path>, only_score: bool, change: &Change<'_>) -> Result<u8, Failure> {
    let started = SystemTime::now();
    let files = flags.files();
    let mut evaluations = evaluations(&files, if only_score { Secrets::NotNeeded } else { Secrets::Needed })?;
    change(&mut evaluations)?;
    if let Some(baseline) = &flags.baseline {
        evaluations.iter_mut().for_each(|evaluation| evaluation.baseline = Some(baseline.clone()));
    }
    if only_score {
        require_secrets_of_evaluators(&evaluations)?;
    } else {
        tell_unpriced(&evaluations);
    }
    if !flags.quiet {
        tell_lints(&evaluations);
    }
    if flags.output.is_some() && evaluations.len() > 1 {
        return Err(Failure::Usage("--output goes with one evaluation file".to_string()));
    }
    let outputs: Vec<(&str, &Path)> =
        [("--stamp", &flags.stamp), ("--depfile", &flags.depfile), ("--events", &flags.events)]
            .into_iter()
            .filter_map(|(flag, path)| path.as_deref().map(|path| (flag, path)))
            .collect();
    refuse_overwriting(&outputs, &evaluations)?;
    refuse_kept_reports(&evaluations, flags.output.as_deref())?;
    let place = store_place(store, &files);
    let Done { batch, outcome, code } = execute(evaluations, flags, &place, only_score, Vec::new())?;
    // A run that broke off has not read everything. What it leaves out would be forgotten by make, whose stamp of an
    // earlier run may be good again once the fault is mended.
    if outcome.errors.is_empty()
        && let Some(path) = &flags.depfile
    {
        depfile::write(path, flags.stamp.as_deref(), &batch, &outcome)?;
    }
    if code == exit::OK
        && let Some(stamp) = &flags.stamp
    {
        touch(stamp, started)?;
    }
    Ok(code)
}

/// Refuses to keep a report where another one is kept, or over a file that is read.
fn refuse_kept_reports(evaluations: &[Evaluation], output: Option<&Path>) -> Result<(), Failure> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for evaluation in evaluations {
        let Some(path) = evaluation.kept_report(output) else { continue };
        let responses = evaluation.recipes.iter().filter_map(|recipe| match &recipe.kind {
            RecipeKind::Responses(ResponsesConfig { place: ResponsesPlace::File { path, .. }, .. }) => Some(path),
            _ => None,
        });
        let fault = match kept.contains(&path) {
            true => "another evaluation keeps its report there too",
            false if responses.chain(&evaluation.baseline).any(|read| same_file(read, &path)) => {
                "that is a file which is read"
            }
            false => {
                kept.push(path);
                continue;
            }
        };
        return Err(Failure::NotThere {
            what: format!("{} would keep its report in {}: {fault}", evaluation.path.display(), path.display()),
            hint: "give it another `run.report_id`, `run.knowledge_base_name` or `run.object_store`".to_string(),
        });
    }
    refuse_overwriting(&kept.iter().map(|path| ("run.report_id", path.as_path())).collect::<Vec<_>>(), evaluations)
}

/// What a run has done.
pub(super) struct Done {
    pub(super) batch: Batch,
    pub(super) outcome: BatchOutcome,
    /// Its exit code.
    pub(super) code: u8,
}

/// Runs `evaluations` over the store at `place` and says how it went; `sinks` take its events beside the progress.
pub(super) fn execute(
    evaluations: Vec<Evaluation>,
    flags: &RunFlags,
    place: &StorePlace,
    only_score: bool,
    sinks: Vec<Box<dyn EventSink>>,
) -> Result<Done, Failure> {
    let force: Vec<Step> = flags.force.iter().flat_map(|steps| steps.0.iter().copied()).collect();
    if only_score && let Some(step) = force.iter().find(|step| !may_score(**step)) {
        return Err(Failure::Usage(format!(
            "--force {step} does not go with score, which never runs that step; `ragstage run --force {step}` does"
        )));
    }
    let settings = Settings {
        jobs: flags.jobs,
        keep_going: flags.keep_going,
        until: flags.until.unwrap_or(Stage::Aggregate),
        force,
        evaluators: extra_evaluators(&flags.evaluator, &flags.evaluator_file)?,
        output: flags.output.clone(),
        may_run: if only_score { may_score } else { |_| true },
    };
    let interrupt = Interrupt::default();
    listen(&interrupt)?;
    let recorder = Arc::new(EventRecorder::default());
    let mut events = Fanout::default();
    events.add(Box::new(recorder.clone()));
    sinks.into_iter().for_each(|sink| events.add(sink));
    if let Some(path) = &flags.events {
        events.add(Box::new(EventLines::create(path)?));
    }
    if !flags.quiet {
        let progress: Box<dyn EventSink> =
            if std::io::stderr().is_terminal() { Box::new(Bars::new()) } else { Box::new(Lines::new()) };
        events.add(progress);
    }
    if !place.exists && !flags.quiet {
        tell!("new store: {}", place.root.display());
    }
    let mut batch = Batch::open(evaluations, settings, &place.root, Arc::new(events), interrupt)?;
    batch.start_records(&recorder);
    let outcome = batch.run()?;
    match flags.format {
        Format::Text => out(&text(&outcome, batch.settings.until))?,
        Format::Json => out_json(&json(&outcome))?,
    }
    for error in &outcome.errors {
        print_run_error(error);
    }
    if let Some(account) = outcome.spend.as_ref().filter(|_| !flags.quiet) {
        tell!("{}", spend_line(account));
    }
    let code = code(&outcome);
    explain_code(code, &outcome);
    Ok(Done { batch, outcome, code })
}

/// Scoring reads the benchmark (for corrected gold) and cached responses, and nothing else.
fn may_score(step: Step) -> bool {
    step == Step::Import || matches!(step.stage(), Stage::Prepare | Stage::Score | Stage::Aggregate)
}

/// The first Ctrl-C (or SIGTERM) asks the run to stop; the second ends the process.
fn listen(interrupt: &Interrupt) -> Result<(), Failure> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: the second signal finds the flag set by the first.
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(exit::INTERRUPTED), interrupt.flag())
            .and_then(|_| signal_hook::flag::register(signal, interrupt.flag()))
            .map_err(|error| Failure::Io { what: "listen for Ctrl-C".to_string(), error })?;
    }
    Ok(())
}

/// The exit code of a batch: the gravest of what happened.
fn code(outcome: &BatchOutcome) -> u8 {
    if let Some(code) = outcome.errors.iter().map(code_of).min_by_key(|code| gravity(*code)) {
        return code;
    }
    let each = || outcome.evaluations.iter();
    if outcome.closed_pools.iter().any(|closed| closed.unusable) {
        exit::PROVIDER
    } else if over_budget(outcome).is_some() {
        exit::ITEMS_FAILED
    } else if each().filter_map(|e| e.summary.as_ref()).any(|s| s.headlines().iter().any(under_floor)) {
        exit::COVERAGE
    } else if each().any(|evaluation| evaluation.gates.iter().any(|gate| !gate.passed && !gate.regression)) {
        exit::GATE
    } else if each().any(|evaluation| evaluation.gates.iter().any(|gate| !gate.passed)) {
        exit::REGRESSION
    } else if each().any(|evaluation| evaluation.failed_items + evaluation.rejected_items > 0) {
        exit::ITEMS_FAILED
    } else {
        exit::OK
    }
}

/// Says what the files alone tell of how far the numbers may be trusted.
pub fn tell_lints(evaluations: &[Evaluation]) {
    for (name, message) in evaluations.iter().flat_map(known_lints) {
        tell!("note: {name}: {message}");
    }
}

/// Says which models a budget does not see.
fn tell_unpriced(evaluations: &[Evaluation]) {
    let budgeted = evaluations.iter().any(|evaluation| evaluation.limits.budget_usd.is_some());
    let served = evaluations.iter().flat_map(|evaluation| &evaluation.served);
    for model in served.filter(|model| budgeted && !model.priced) {
        tell!(
            "note: the {} {:?} has no `price`, so its calls count nothing against `budget_usd`",
            model.kind,
            model.model
        );
    }
}

/// What was spent, where the budget stopped calls.
fn over_budget(outcome: &BatchOutcome) -> Option<&Account> {
    outcome.spend.as_ref().filter(|account| account.over_budget > 0)
}

/// One line about money, where there was any.
fn spend_line(account: &Account) -> String {
    format!(
        "spent ${} ({} tokens), saved by cache ${}",
        Account::money(account.spent_usd),
        Account::count(account.spent_tokens),
        Account::money(account.saved_usd)
    )
}

/// How grave an exit code is: the lower the graver.
pub(super) fn gravity(code: u8) -> usize {
    let order = [exit::INTERRUPTED, exit::INTERNAL, exit::STORE, exit::INPUT, exit::PROVIDER];
    order.iter().position(|other| *other == code).unwrap_or(order.len())
}

/// Whether cases failed in such number that there is no headline. Cases that are all skipped are no failure.
fn under_floor(headline: &Headline) -> bool {
    headline.mean.is_none() && headline.failed > 0
}

fn explain_code(code: u8, outcome: &BatchOutcome) {
    for evaluation in &outcome.evaluations {
        for gate in evaluation.gates.iter().filter(|gate| !gate.passed) {
            let place: Vec<&str> = [gate.recipe.as_deref(), gate.query.as_deref()].into_iter().flatten().collect();
            let why = gate.why.as_deref().unwrap_or("out of bounds");
            tell!("gate failed: {} ({}): {why}", gate.gate, place.join(", "));
        }
    }
    match code {
        exit::ITEMS_FAILED => {
            if let Some(account) = over_budget(outcome) {
                let (calls, they) = match account.over_budget {
                    1 => ("1 call was".to_string(), "it"),
                    many => (format!("{} calls were", Account::count(many)), "they"),
                };
                tell!(
                    "the budget of ${} stopped the run: ${} are spent, and {calls} not made because {they} might have \
                     broken it. What was paid for is kept. Each run has the whole budget, so the same command goes on and spends \
                     again; with a higher `limits.budget_usd` it gets further.",
                    Account::money(account.budget_usd.unwrap_or_default()),
                    Account::money(account.spent_usd)
                );
            }
            tell_what_failed(outcome);
        }
        exit::COVERAGE => {
            tell!("coverage is under its floor, so some numbers are withheld. The report lists the failures.");
            tell_what_failed(outcome);
        }
        // An error of its own has said what to do.
        exit::PROVIDER if outcome.errors.is_empty() => {
            for closed in outcome.closed_pools.iter().filter(|closed| closed.unusable) {
                let right = match closed.pool {
                    Pool::Queries | Pool::Ingest => "address or command",
                    _ => "`base_url`, the right model",
                };
                tell!("error: {} could not be used: {}", whose(closed.pool), closed.why.error);
                tell!(
                    "  hint: is it running, and does the evaluation file name the right {right} and the right \
                     credentials? The same command asks what is missing."
                );
            }
        }
        _ => {}
    }
}

/// Says what failed, and what helps: another try does so only where something is computed.
fn tell_what_failed(outcome: &BatchOutcome) {
    let sum = |count: fn(&EvaluationOutcome) -> u64| outcome.evaluations.iter().map(count).sum::<u64>();
    let failed = sum(|evaluation| evaluation.failed_items);
    let responses = sum(|evaluation| evaluation.rejected_responses);
    let documents = sum(|evaluation| evaluation.rejected_items) - responses;
    if failed > 0 {
        tell!("failed items: {failed}; the rest is done and reported. The same command tries them again.");
    }
    if documents > 0 {
        tell!(
            "documents that no parser reads: {documents}; the rest is done and reported. \
             They are not tried again until they change."
        );
    }
    if responses > 0 {
        tell!(
            "responses made elsewhere that failed there or are not in their file: {responses}; the rest is done and reported. \
             The same command finds the same: mend the file, or say with `missing` what becomes of cases without one."
        );
    }
}

/// Who answers the calls of a pool.
fn whose(pool: Pool) -> &'static str {
    match pool {
        Pool::Queries => "the system under test",
        Pool::Ingest => "the system under test, which was to take documents in,",
        Pool::Embeddings => "the embedding endpoint",
        Pool::Rerank => "the reranking endpoint",
        Pool::Llm => "the chat model",
        Pool::Judge => "the chat model that judges",
        Pool::Programs => "the evaluator program",
        Pool::Cpu => "this machine",
    }
}

fn text(outcome: &BatchOutcome, until: Stage) -> String {
    let mut text = String::new();
    for evaluation in &outcome.evaluations {
        if let Some(summary) = &evaluation.summary {
            text += &format!("{}\n{}\n", evaluation.name, table(&summary.headlines()));
        }
    }
    text += &if outcome.executed == 0 && outcome.errors.is_empty() {
        format!("Nothing to do: all {} actions are up to date; no query was asked.\n", outcome.fresh)
    } else {
        format!(
            "Actions: {} ran ({} rows computed), {} up to date.\n",
            outcome.executed, outcome.rows_computed, outcome.fresh
        )
    };
    if until < Stage::Aggregate {
        text += &format!("Stopped after {until}, as asked.\n");
    }
    for evaluation in &outcome.evaluations {
        if let Some((path, _)) = evaluation.files.iter().find(|(path, _)| path.extension().is_some_and(|e| e == "html"))
        {
            text += &format!("Report: {}\n", path.display());
        }
    }
    text
}

fn table(headlines: &[Headline]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["recipe", "query", "evaluator", "mean", "interval", "scored", "failed", "skipped", "coverage"]);
    for line in headlines {
        table.add_row([
            line.recipe.clone(),
            line.query.clone(),
            line.evaluator.clone(),
            line.mean.map_or_else(
                || line.why_not.map_or_else(|| "-".to_string(), |why| format!("({why})")),
                |mean| format!("{mean:.4}"),
            ),
            line.interval.map_or_else(String::new, |(low, high)| format!("[{low:.4}, {high:.4}]")),
            line.scored.to_string(),
            line.failed.to_string(),
            line.skipped.to_string(),
            line.coverage.map_or_else(|| "-".to_string(), |coverage| format!("{:.1} %", coverage * 100.0)),
        ]);
    }
    table.to_string()
}

fn json(outcome: &BatchOutcome) -> serde_json::Value {
    let evaluation = |evaluation: &EvaluationOutcome| {
        let headlines: Vec<_> = evaluation
            .summary
            .iter()
            .flat_map(|summary| summary.headlines())
            .map(|line| {
                json!({
                    "recipe": line.recipe, "query": line.query, "evaluator": line.evaluator, "mean": line.mean,
                    "interval": line.interval.map(|(low, high)| [low, high]), "scored": line.scored,
                    "failed": line.failed, "skipped": line.skipped, "coverage": line.coverage,
                })
            })
            .collect();
        let files: Vec<_> = evaluation
            .files
            .iter()
            .map(|(path, changed)| json!({"path": path.display().to_string(), "changed": changed}))
            .collect();
        json!({
            "name": evaluation.name, "run_id": evaluation.run_id, "headlines": headlines,
            "gates": evaluation.gates, "files": files, "failed_items": evaluation.failed_items,
            "rejected_items": evaluation.rejected_items,
            "executed": evaluation.executed, "fresh": evaluation.fresh,
        })
    };
    let mut json = json!({
        "format": "ragstage.run.v1",
        "executed": outcome.executed,
        "fresh": outcome.fresh,
        "rows_computed": outcome.rows_computed,
        "errors": outcome.errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "evaluations": outcome.evaluations.iter().map(evaluation).collect::<Vec<_>>(),
    });
    if let Some(account) = &outcome.spend {
        json["spend"] = json!(account);
    }
    json
}

/// Sets a stamp's time to that of the run's start, creating it if need be: an input that was edited while the run went on is
/// newer.
fn touch(path: &Path, started: SystemTime) -> Result<(), Failure> {
    let failed = |error| Failure::Io { what: format!("touch {}", path.display()), error };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = File::options().create(true).write(true).truncate(false).open(path).map_err(failed)?;
    file.set_modified(started).map_err(failed)
}

/// Writes every event as a line of JSON.
struct EventLines {
    to: Mutex<Box<dyn Write + Send>>,
}

impl EventLines {
    fn create(path: &Path) -> Result<Self, Failure> {
        let to: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(std::io::stdout())
        } else {
            let file =
                File::create(path).map_err(|error| Failure::Io { what: format!("write {}", path.display()), error })?;
            Box::new(std::io::LineWriter::new(file))
        };
        Ok(EventLines { to: Mutex::new(to) })
    }
}

impl EventSink for EventLines {
    fn event(&self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            // Whoever stops reading events still gets the run done.
            let _ = writeln!(self.to.lock().unwrap_or_else(PoisonError::into_inner), "{line}");
        }
    }
}
