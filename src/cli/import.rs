//! `import`: responses that were made elsewhere, checked against a benchmark and written in our own format.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use ragstage_cache::Digest;
use ragstage_stages::artifact::{Answers, Observations, Results};
use ragstage_stages::contract::Artifact;
use ragstage_stages::error::RowErrorKind;
use ragstage_stages::query::Missing;
use ragstage_stages::responses::{Pick, RESPONSE_FORMATS, Response, ResponseFormat, response_line, write_parquet};
use ragstage_stages::step::Stage;
use serde_json::json;

use super::failure::{Failure, code_of, print_run_error};
use super::flags::Format;
use super::open::{Secrets, evaluations, refuse_overwriting, same_file, store_place};
use super::openviking::import_config;
use super::out::{first_of, out, out_json};
use crate::batch::{Batch, EventRecorder, Settings};
use crate::evaluation::{ResponsesConfig, ResponsesPlace};
use crate::exec::{ACTIONS_FILE, Fanout, Interrupt, RecordedAction, RunError};
use crate::exit;
use crate::publish::write_if_changed;

/// Flags of `import`.
#[derive(Args)]
pub struct ImportFlags {
    /// Evaluation file; or the word `openviking`, for a run configuration of its benchmark
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The responses: JSON lines, Parquet, a TREC run, a report.json, or OpenViking's generated_answers.json; after `openviking` its
    /// run configuration
    #[arg(value_name = "RESPONSES")]
    pub responses: PathBuf,
    /// Where they are written: Parquet, or JSON lines where the name ends in .jsonl [default: responses/NAME.parquet beside FILE];
    /// the evaluation file after `openviking` [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the responses are [default: by their content]
    #[arg(long, value_parser = PossibleValuesParser::new(RESPONSE_FORMATS.map(ResponseFormat::name)), value_name = "FORMAT")]
    pub responses_format: Option<String>,
    /// Of a report with several recipes, which one
    #[arg(long)]
    pub recipe: Option<String>,
    /// Of a report with several queries or modes, which one
    #[arg(long)]
    pub query: Option<String>,
    /// Leave out responses to cases that the benchmark does not have
    #[arg(long)]
    pub ignore_unknown: bool,
    /// After `openviking`: the benchmark's folder, which paths in the configuration are below [default: that of the configuration, or
    /// the one above it where it is called config]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// After `openviking`: the server [default: $OPENVIKING_URL, else what ovcli.conf says]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// How the outcome is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl ImportFlags {
    /// Whether a run configuration is meant: no response set is YAML.
    fn is_configuration(&self) -> bool {
        let is_yaml = |ending: &std::ffi::OsStr| ending == "yaml" || ending == "yml";
        self.file.as_os_str() == "openviking" && self.responses.extension().is_some_and(is_yaml)
    }
}

/// The recipe that stands for the set while it is checked.
const RECIPE: &str = "responses";

/// Checks a response set against the benchmark of an evaluation and writes what it says.
///
/// # Errors
/// When a file is invalid, or the set does not fit the benchmark.
pub fn import(flags: &ImportFlags, store: Option<&Path>) -> Result<u8, Failure> {
    if flags.is_configuration() {
        return import_config(&flags.responses, flags.root.as_deref(), flags.url.as_deref(), flags.output.as_deref());
    }
    if let Some(flag) =
        [("--root", flags.root.is_some()), ("--url", flags.url.is_some())].iter().find(|(_, given)| *given)
    {
        return Err(Failure::Usage(format!("{} goes with `import openviking CONFIG.yaml`", flag.0)));
    }
    if !flags.responses.exists() {
        return Err(Failure::NotThere {
            what: format!("there are no responses {}", flags.responses.display()),
            hint: "name the file that has them, from the current folder".to_string(),
        });
    }
    let files = [flags.file.clone()];
    let mut evaluations = evaluations(&files, Secrets::NotNeeded)?;
    let place = store_place(store, &files);
    let Some(evaluation) = evaluations.first_mut() else {
        return Err(Failure::Usage("import needs an evaluation file".to_string()));
    };
    let output = match &flags.output {
        Some(output) => output.clone(),
        None => {
            let stem = flags.responses.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let folder = evaluation.path.parent().unwrap_or(Path::new("")).join("responses");
            folder.join(format!("{}.parquet", stem.unwrap_or_else(|| "responses".to_string())))
        }
    };
    if same_file(&output, &flags.responses) {
        return Err(Failure::Usage(format!("--output {} would write over a file that is read", output.display())));
    }
    refuse_overwriting(&[("--output", output.as_path())], std::slice::from_ref(evaluation))?;
    let absolute = std::path::absolute(&output).unwrap_or_else(|_| output.clone());
    let inside = std::path::absolute(&place.root).is_ok_and(|root| absolute.starts_with(root));
    if inside || absolute.starts_with(std::path::absolute(&evaluation.output).unwrap_or_default()) {
        let shown = output.display();
        return Err(Failure::Usage(format!("--output {shown} is a place that runs write to; name another")));
    }
    let config = ResponsesConfig {
        place: ResponsesPlace::File {
            path: flags.responses.clone(),
            format: flags.responses_format.as_deref().and_then(ResponseFormat::named),
            pick: Pick { recipe: flags.recipe.clone(), query: flags.query.clone() },
        },
        // Told apart below from cases that the set says have failed.
        missing: Some(Missing::Skip),
        ignore_unknown: flags.ignore_unknown.then_some(true),
    };
    evaluation.add_response_sets(vec![(RECIPE.to_string(), config)], false);
    let settings = Settings { until: Stage::Query, ..Settings::default() };
    let recorder = Arc::new(EventRecorder::default());
    let mut events = Fanout::default();
    events.add(Box::new(recorder.clone()));
    let mut batch = Batch::open(evaluations, settings, &place.root, Arc::new(events), Interrupt::default())?;
    batch.start_records(&recorder);
    let outcome = batch.run()?;
    if let Some(first) = outcome.errors.first() {
        let code = code_of(first);
        outcome.errors.iter().for_each(print_run_error);
        return Ok(code);
    }
    let run = outcome.evaluations.first().and_then(|evaluation| evaluation.run_id.clone());
    let kept = Kept::read(&batch, run.as_deref())?;
    write(&output, &kept.responses)?;
    let shown = output.display().to_string();
    match flags.format {
        Format::Json => out_json(&json!({
            "format": "ragstage.import.v1",
            "file": shown,
            "cases": kept.cases,
            "responses": kept.responses.len(),
            "missing": kept.missing,
        }))?,
        Format::Text => out(&text(&kept, &shown))?,
    }
    Ok(exit::OK)
}

fn text(kept: &Kept, file: &str) -> String {
    let mut text = format!("{} of {} cases have a response: {file}\n", kept.responses.len(), kept.cases);
    if !kept.missing.is_empty() {
        text.push_str(&format!(
            "Without one: {}; they will have failed, unless `missing: empty` or --missing zero says that nothing was found\n",
            first_of(&kept.missing)
        ));
    }
    text.push_str(&format!(
        "Score them with `ragstage score FILE --response-set {file}`, or as a recipe of the file:\n  - {{name: imported, responses: \
         {{path: {file}}}}}\n"
    ));
    text
}

/// What the run of the import has made.
struct Kept {
    cases: usize,
    responses: Vec<(String, Response)>,
    missing: Vec<String>,
}

impl Kept {
    fn read(batch: &Batch, run: Option<&str>) -> Result<Self, Failure> {
        let store = &batch.shared.store;
        let actions: BTreeMap<String, RecordedAction> = match run {
            Some(run) => store.runs().read_json(run, ACTIONS_FILE)?.unwrap_or_default(),
            None => BTreeMap::new(),
        };
        let mut kept = Kept { cases: 0, responses: Vec::new(), missing: Vec::new() };
        for (_, action) in actions.iter().filter(|(label, _)| label.starts_with("import ")) {
            let (Some(results), Some(answers)) = (action.outputs.get("results"), action.outputs.get("answers")) else {
                continue;
            };
            let (results, answers) = (artifact::<Results>(batch, results)?, artifact::<Answers>(batch, answers)?);
            let latencies: HashMap<String, Option<f64>> = match action.outputs.get("observations") {
                Some(digest) => {
                    let observations = artifact::<Observations>(batch, digest)?;
                    observations.rows.into_iter().map(|row| (row.case_id, row.latency_ms)).collect()
                }
                None => HashMap::new(),
            };
            kept.cases += results.rows.len();
            for (retrieved, answer) in results.rows.into_iter().zip(answers.rows) {
                let error = retrieved.error;
                if error.as_ref().is_some_and(|error| error.kind == RowErrorKind::Absent) {
                    kept.missing.push(retrieved.case_id);
                    continue;
                }
                let response = Response {
                    results: retrieved.results,
                    answer: answer.text,
                    citations: answer.citations,
                    samples: answer.samples,
                    latency_ms: latencies.get(&retrieved.case_id).copied().flatten(),
                    error: error.map(|error| error.message),
                    metadata: answer.metadata,
                    case_id: retrieved.case_id.clone(),
                    ..Response::default()
                };
                kept.responses.push((retrieved.case_id, response));
            }
        }
        Ok(kept)
    }
}

fn artifact<A: Artifact>(batch: &Batch, digest: &Digest) -> Result<A, Failure> {
    let bytes = batch.shared.store.cas().get(digest)?;
    A::decode(bytes).map_err(|error| Failure::Run(RunError::Internal(format!("responses: {error}"))))
}

fn write(path: &Path, responses: &[(String, Response)]) -> Result<(), Failure> {
    let internal = |why: String| Failure::Run(RunError::Internal(why));
    let bytes = if path.extension().is_some_and(|extension| extension == "jsonl") {
        let mut lines = String::new();
        for (case_id, response) in responses {
            lines.push_str(&response_line(case_id, response).map_err(|error| internal(error.to_string()))?);
            lines.push('\n');
        }
        lines.into_bytes()
    } else {
        write_parquet(responses).map_err(internal)?
    };
    write_if_changed(path, &bytes)
        .map(drop)
        .map_err(|error| Failure::Io { what: format!("write {}", path.display()), error })
}
