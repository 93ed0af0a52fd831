//! `score` without a store: a run file against judgements, or responses against cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ragstage_stages::error::{InputError, Place};
use ragstage_stages::score::measures::Measure;
use ragstage_stages::score::{Evaluator, EvaluatorSpec, definitions, evaluator};
use serde_json::{Value, json};

use super::failure::Failure;
use super::flags::{Format, RunFlags};
use super::open::named_evaluator;
use super::out::{first_of, out, out_json};
use super::standalone_cases::score_cases;
use crate::exec::RunError;
use crate::exit;
use crate::scorer::{JudgedQueries, RunFile, RunScores};

/// What is measured where no measure is named.
const DEFAULT_MEASURES: [&str; 5] = ["nDCG@10", "AP", "RR", "P@10", "R@100"];

/// What becomes of what is judged, but not in the file that is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// It counts as 0, as with `trec_eval -c`; a case without response counts as failed
    Zero,
    /// It is left out
    Skip,
}

/// Flags of `score` without evaluation file and store.
#[derive(Args)]
#[command(next_help_heading = "Without evaluation file and store")]
pub struct StandaloneFlags {
    /// Judgements: TREC's qrels, BEIR's tsv, or Parquet
    #[arg(long, value_name = "FILE")]
    pub qrels: Option<PathBuf>,
    /// A TREC run file or a Parquet table of one, scored against --qrels; may be given several times
    #[arg(id = "run_file", long = "run", value_name = "FILE")]
    pub runs: Vec<PathBuf>,
    /// A measure of the run, e.g. nDCG@10 [default: nDCG@10, AP, RR, P@10 and R@100]; may be given several times
    #[arg(long, value_name = "MEASURE")]
    pub measure: Vec<String>,
    /// Write the run as a Parquet table, which is read faster
    #[arg(long, value_name = "FILE")]
    pub to_parquet: Option<PathBuf>,
    /// Cases with gold as JSON lines
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// Responses as JSON lines, scored against --cases by every --evaluator
    #[arg(long, value_name = "FILE")]
    pub responses: Option<PathBuf>,
    /// Write the scores of every case as JSON lines
    #[arg(long, value_name = "FILE")]
    pub per_case: Option<PathBuf>,
    /// Judged queries that the run lacks, or cases that the responses lack [default: zero]
    #[arg(long, value_enum)]
    pub missing: Option<Missing>,
    /// Share of cases that must be scored for a mean to be told [default: 0.95]
    #[arg(long, value_parser = share, value_name = "SHARE")]
    pub coverage_floor: Option<f64>,
    /// Print the values of every query too
    #[arg(long)]
    pub per_query: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_string()),
    }
}

impl StandaloneFlags {
    /// A flag that is given and means scoring without a store.
    pub fn given(&self) -> Option<&'static str> {
        self.of_runs().or_else(|| self.of_cases())
    }

    /// A flag that is given and is about run files.
    fn of_runs(&self) -> Option<&'static str> {
        let given = [
            ("--qrels", self.qrels.is_some()),
            ("--run", !self.runs.is_empty()),
            ("--measure", !self.measure.is_empty()),
            ("--to-parquet", self.to_parquet.is_some()),
            ("--per-query", self.per_query),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// A flag that is given and is about responses.
    fn of_cases(&self) -> Option<&'static str> {
        let given = [
            ("--cases", self.cases.is_some()),
            ("--responses", self.responses.is_some()),
            ("--per-case", self.per_case.is_some()),
            ("--coverage-floor", self.coverage_floor.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Scores run files or responses.
///
/// # Errors
/// When flags do not go together, or a file is wrong.
pub fn standalone(flags: &StandaloneFlags, run: &RunFlags) -> Result<u8, Failure> {
    if !run.evaluator_file.is_empty() {
        return Err(Failure::Usage(
            "--evaluator-file goes with an evaluation file, where its replies are kept".to_string(),
        ));
    }
    refuse_flags_of_runs(run)?;
    // Without --jobs rayon's own pool, which has a thread per core.
    let work = || match (flags.of_runs(), flags.of_cases()) {
        (Some(one), Some(other)) => Err(Failure::Usage(format!(
            "{one} is of run files and {other} of responses; score them one after the other"
        ))),
        (Some(_), None) => score_runs(flags, run),
        (None, Some(_)) => score_cases(flags, run),
        (None, None) => {
            Err(Failure::Usage("--missing needs --qrels and --run, or --cases and --responses".to_string()))
        }
    };
    match run.jobs {
        None => work(),
        Some(jobs) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
            pool.map_err(|error| Failure::Run(RunError::Internal(error.to_string())))?.install(work)
        }
    }
}

/// No flag that is about evaluation files means anything here.
fn refuse_flags_of_runs(run: &RunFlags) -> Result<(), Failure> {
    let given = [
        ("FILE", !run.given_files.is_empty()),
        ("--baseline", run.baseline.is_some()),
        ("--keep-going", run.keep_going),
        ("--until", run.until.is_some()),
        ("--force", !run.force.is_empty()),
        ("--output", run.output.is_some()),
        ("--stamp", run.stamp.is_some()),
        ("--depfile", run.depfile.is_some()),
        ("--events", run.events.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some(("FILE", _)) => {
            let file = run.given_files.first().map(|file| file.display().to_string()).unwrap_or_default();
            Err(Failure::Usage(format!(
                "an evaluation file ({file}) does not go with --qrels, --run, --cases or --responses: these need none"
            )))
        }
        Some((flag, _)) => Err(Failure::Usage(format!("{flag} needs an evaluation file; here there is none"))),
    }
}

/// The evaluators that are named.
///
/// # Errors
/// When there is no such evaluator.
pub fn evaluators(flag: &str, texts: &[String]) -> Result<Vec<Box<dyn Evaluator>>, Failure> {
    let mut made: Vec<Box<dyn Evaluator>> = Vec::with_capacity(texts.len());
    for text in texts {
        let (_, one) = named_evaluator(flag, text)?;
        // Asked for twice is asked for.
        if made.iter().all(|other| other.name() != one.name()) {
            made.push(one);
        }
    }
    Ok(made)
}

fn score_runs(flags: &StandaloneFlags, run: &RunFlags) -> Result<u8, Failure> {
    if flags.runs.is_empty() {
        return Err(Failure::Usage("--run FILE is needed: a TREC run file".to_string()));
    }
    if !run.evaluator.is_empty() {
        return Err(Failure::Usage("--evaluator is of responses; a run is measured with --measure".to_string()));
    }
    if let Some(path) = &flags.to_parquet {
        convert(flags, run, path)?;
    }
    let Some(qrels) = &flags.qrels else {
        if flags.to_parquet.is_some() && flags.measure.is_empty() && !flags.per_query && flags.missing.is_none() {
            return Ok(exit::OK);
        }
        return Err(Failure::Usage("--qrels FILE is needed: the judgements that --run is scored against".to_string()));
    };
    let texts = match flags.measure.as_slice() {
        [] => DEFAULT_MEASURES.map(String::from).to_vec(),
        texts => texts.to_vec(),
    };
    let evaluators = evaluators("--measure", &texts)?;
    let mut measures: Vec<&dyn Measure> = Vec::with_capacity(evaluators.len());
    for evaluator in &evaluators {
        measures.push(evaluator.measure().ok_or_else(|| no_measure(&evaluator.name()))?);
    }
    let names: Vec<String> = evaluators.iter().map(|evaluator| evaluator.name()).collect();
    let queries = JudgedQueries::read(qrels).map_err(invalid)?;
    let undefined: Vec<InputError> = measures
        .iter()
        .zip(&names)
        .flat_map(|(measure, name)| queries.undefined(*measure).into_iter().map(move |found| (name, found)))
        .map(|(name, (query, why))| InputError::new(Place::file(qrels), format!("{name} of query {query}: {why}")))
        .collect();
    if !undefined.is_empty() {
        return Err(invalid(undefined));
    }
    let mut scores = Vec::with_capacity(flags.runs.len());
    let mut errors = Vec::new();
    for path in &flags.runs {
        match with_progress(path, run.quiet, |progress| RunFile::new(path, progress).score(&queries, &measures)) {
            Ok(found) => scores.push(found),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(invalid(errors));
    }
    let zero = flags.missing != Some(Missing::Skip);
    for (path, scores) in flags.runs.iter().zip(&scores) {
        tell_what_is_missing(path, &queries, scores, zero);
    }
    let table = RunTable { flags, names: &names, queries: &queries, scores: &scores, zero };
    match run.format {
        Format::Text => out(&table.text())?,
        Format::Json => out_json(&table.json())?,
    }
    // As an evaluation that has no number: a script must not take it for a run that was measured.
    let mut code = exit::OK;
    for (path, _) in flags.runs.iter().zip(&scores).filter(|(_, scores)| !zero && scores.evaluated() == 0) {
        tell!("error: nothing was scored: {} has no judged query, and --missing skip leaves out all", path.display());
        tell!("  hint: are the judgements and the run of the same queries?");
        code = exit::COVERAGE;
    }
    Ok(code)
}

fn convert(flags: &StandaloneFlags, run: &RunFlags, target: &Path) -> Result<(), Failure> {
    let [source] = flags.runs.as_slice() else {
        return Err(Failure::Usage("--to-parquet takes one --run".to_string()));
    };
    if target.exists() {
        return Err(Failure::NotThere {
            what: format!("{} exists already; nothing was written", target.display()),
            hint: "choose another name for --to-parquet".to_string(),
        });
    }
    let rows = with_progress(source, run.quiet, |progress| RunFile::new(source, progress).convert(target));
    let rows = rows.map_err(invalid)?;
    if !run.quiet {
        tell!("{rows} rows are in {}", target.display());
    }
    Ok(())
}

/// Input errors as a failed command.
pub fn invalid(errors: Vec<InputError>) -> Failure {
    Failure::Run(RunError::Input(errors))
}

fn no_measure(name: &str) -> Failure {
    let makes = |definition: &ragstage_stages::score::Definition| {
        let cutoff = Some(10);
        [None, cutoff].into_iter().any(|cutoff| {
            let spec = EvaluatorSpec { name: definition.name.to_string(), cutoff, options: Default::default() };
            evaluator(&spec).is_ok_and(|evaluator| evaluator.measure().is_some())
        })
    };
    let names: Vec<&str> = definitions().iter().filter(|d| makes(d)).map(|d| d.name).collect();
    Failure::Usage(format!(
        "--measure {name}: it is no measure of a ranking of documents; there are {}",
        names.join(", ")
    ))
}

/// Shows a bar of bytes where stderr is a terminal, once `path` has taken a second.
fn with_progress<T>(path: &Path, quiet: bool, work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> T) -> T {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    // A smaller file is done before anybody asks.
    if quiet || size < 1 << 28 {
        return work(&|_| {});
    }
    let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {bar:30} {bytes} of {total_bytes} ({bytes_per_sec})");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(path.display().to_string());
    let done = work(&|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    done
}

fn tell_what_is_missing(path: &Path, queries: &JudgedQueries, scores: &RunScores, zero: bool) {
    let file = path.display();
    if scores.rows == 0 {
        tell!("warning: {file} has no rows");
    }
    let missing = scores.missing();
    if missing > 0 {
        let judged = queries.queries().iter().zip(&scores.values);
        let absent = judged.filter(|(_, values)| values.is_none());
        let named: Vec<_> = absent.map(|(query, _)| String::from_utf8_lossy(&query.id)).collect();
        let (query, are, count) = if missing == 1 { ("query", "is", "counts") } else { ("queries", "are", "count") };
        let fate =
            if zero { format!("{count} as 0 (--missing skip leaves them out)") } else { format!("{are} left out") };
        tell!("warning: {missing} judged {query} {are} not in {file} and {fate}: {}", first_of(&named));
    }
    let unjudged = scores.unjudged.len();
    if unjudged > 0 {
        let (query, are) = if unjudged == 1 { ("query", "is") } else { ("queries", "are") };
        tell!("note: {unjudged} {query} of {file} {are} not judged and not scored");
    }
}

/// What is printed of some runs.
struct RunTable<'a> {
    flags: &'a StandaloneFlags,
    names: &'a [String],
    queries: &'a JudgedQueries,
    scores: &'a [RunScores],
    zero: bool,
}

impl RunTable<'_> {
    /// The values of one query, measure by measure; `None` where it is left out.
    fn values(&self, scores: &RunScores, query: usize) -> Option<Vec<f64>> {
        match scores.values.get(query)? {
            Some(values) => Some(values.to_vec()),
            None if self.zero => Some(vec![0.0; self.names.len()]),
            None => None,
        }
    }

    fn text(&self) -> String {
        let files: Vec<String> = self.flags.runs.iter().map(|path| path.display().to_string()).collect();
        let mut text = String::new();
        if self.flags.per_query {
            let mut table = columns(["query", "measure"].into_iter().map(String::from).chain(files.iter().cloned()), 2);
            for (place, query) in self.queries.queries().iter().enumerate() {
                let values: Vec<Option<Vec<f64>>> =
                    self.scores.iter().map(|scores| self.values(scores, place)).collect();
                if values.iter().all(Option::is_none) {
                    continue;
                }
                for (measure, name) in self.names.iter().enumerate() {
                    let mut row = vec![String::from_utf8_lossy(&query.id).into_owned(), name.clone()];
                    row.extend(
                        values.iter().map(|values| number(values.as_ref().and_then(|v| v.get(measure)).copied())),
                    );
                    table.add_row(row);
                }
            }
            text += &format!("{}\n\n", table.trim_fmt());
        }
        let mut table = columns(std::iter::once("measure".to_string()).chain(files), 1);
        for (measure, name) in self.names.iter().enumerate() {
            let means = self.scores.iter().map(|scores| number(scores.mean(measure, self.zero)));
            table.add_row(std::iter::once(name.clone()).chain(means));
        }
        let counted = |scores: &RunScores| if self.zero { scores.values.len() } else { scores.evaluated() };
        let counts = self.scores.iter().map(|scores| counted(scores).to_string());
        table.add_row(std::iter::once("queries".to_string()).chain(counts));
        text += &format!("{}\n", table.trim_fmt());
        text
    }

    fn json(&self) -> Value {
        let runs: Vec<Value> =
            self.flags.runs.iter().zip(self.scores).map(|(path, scores)| self.run(path, scores)).collect();
        json!({
            "format": "ragstage.score.runs.v1",
            "qrels": self.flags.qrels,
            "missing": if self.zero { "zero" } else { "skip" },
            "measures": self.names,
            "judged_queries": self.queries.queries().len(),
            "runs": runs,
        })
    }

    fn run(&self, path: &Path, scores: &RunScores) -> Value {
        let named = |values: Vec<f64>| -> BTreeMap<&String, f64> { self.names.iter().zip(values).collect() };
        let means: BTreeMap<&String, Option<f64>> =
            self.names.iter().enumerate().map(|(measure, name)| (name, scores.mean(measure, self.zero))).collect();
        let mut run = json!({
            "run": path,
            "rows": scores.rows,
            "evaluated_queries": scores.evaluated(),
            "missing_queries": scores.missing(),
            "unjudged_queries": scores.unjudged.len(),
            "means": means,
        });
        if self.flags.per_query {
            let per_query: BTreeMap<_, _> = self
                .queries
                .queries()
                .iter()
                .enumerate()
                .filter_map(|(place, query)| {
                    Some((String::from_utf8_lossy(&query.id), named(self.values(scores, place)?)))
                })
                .collect();
            run["per_query"] = json!(per_query);
        }
        run
    }
}

/// A table without lines, columns after the first `left` to the right.
pub fn columns(header: impl IntoIterator<Item = String>, left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(header);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A value as a cell.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), |value| format!("{value:.4}"))
}
