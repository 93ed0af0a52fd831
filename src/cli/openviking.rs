//! `import openviking` and `run --config`: run configurations of OpenViking's benchmark (spec/openviking 4 and 5).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use ragstage_stages::artifact::{Answers, Documents, Golds, Observations, Queries, Results, Scores};
use ragstage_stages::build::ingest::Handle;
use ragstage_stages::query::Missing;
use ragstage_stages::query::system::{IngestMode, OpenVikingPlace, server_version};
use ragstage_stages::responses::{Pick, ResponseFormat};
use ragstage_stages::score::EvaluatorSpec;

use super::failure::Failure;
use super::flags::RunFlags;
use super::kb::{delete_all, has_current};
use super::open::{StorePlace, check_evaluator, look_at, store_place};
use super::out::out;
use super::run::{Done, execute, gravity};
use crate::batch::Settings;
use crate::evaluation::{
    Evaluation, EvaluatorConfig, OpenVikingConfig, RecipeKind, ResponsesConfig, ResponsesPlace, read,
    read_openviking_config,
};
use crate::exec::RunError;
use crate::exit;
use crate::openviking::{
    CaseScores, EvaluationText, Generated, LITERAL_LLM_KEY, LogSink, OutputPlace, RunArtifacts, SERVER_KEY,
    ServerPlace, deletion_section, evaluated, evaluation_text, find_server, insertion_section, merge_report,
    query_section, read_json, write_documents, write_json,
};
use crate::publish::write_if_changed;

/// How long a server may take to say its version.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(20);
/// The evaluator of what is found.
const RECALL: &str = "openviking_recall";
/// The evaluator of answers.
const F1: &str = "openviking_benchmark_f1";
/// The judge's column.
const JUDGE: &str = "openviking";

/// Flags of `run` for OpenViking's benchmark.
#[derive(Args)]
pub struct OpenVikingFlags {
    /// A run configuration of OpenViking's benchmark, in place of evaluation files
    #[arg(long, value_name = "CONFIG.yaml", conflicts_with = "given_files")]
    pub config: Option<PathBuf>,
    /// Which of its steps
    #[arg(long, value_enum, requires = "config", value_name = "STEP")]
    pub step: Option<BenchmarkStep>,
    /// The benchmark's folder, which paths in the configuration are below [default: that of the configuration, or the one above it
    /// where it is called config]
    #[arg(long, value_name = "DIR", requires = "config")]
    pub root: Option<PathBuf>,
    /// The OpenViking server [default: $OPENVIKING_URL, else what ovcli.conf says]
    #[arg(long, value_name = "URL", requires = "config")]
    pub url: Option<String>,
}

/// A step of OpenViking's benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum BenchmarkStep {
    /// The three of them
    #[default]
    All,
    /// Hand documents over, ask, answer
    Gen,
    /// Score the answers
    Eval,
    /// Remove what was handed over, and nothing else
    Del,
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn read_config(path: &Path, root: Option<&Path>) -> Result<OpenVikingConfig, Failure> {
    let config = read_openviking_config(path, root, &environment)?;
    for key in &config.not_carried {
        tell!("not carried over: {}: {}", key.key, key.why);
    }
    if config.llm.api_key.is_some() {
        tell!("note: the evaluation file names {LITERAL_LLM_KEY} for the key of the model");
    }
    Ok(config)
}

fn server(url: Option<&str>) -> Result<ServerPlace, Failure> {
    find_server(url, &environment).map_err(|error| Failure::NotThere {
        what: error.to_string(),
        hint: error.hint.unwrap_or_else(|| "name the server with OPENVIKING_URL or --url".to_string()),
    })
}

/// What the server says of its version.
fn version_of(server: &ServerPlace) -> Result<String, String> {
    let key = server.key.clone().or_else(|| environment(SERVER_KEY));
    let headers = key.filter(|_| server.has_key).map(|key| ("X-API-Key".to_string(), key));
    let place = OpenVikingPlace {
        url: server.url.clone(),
        variables: headers.iter().map(|(_, key)| (SERVER_KEY.to_string(), key.clone())).collect(),
        headers: headers.into_iter().collect(),
        target: "viking://resources".to_string(),
        ingest_mode: IngestMode::None,
        wait: false,
        connect_timeout: HEALTH_TIMEOUT,
        read_timeout: HEALTH_TIMEOUT,
    };
    server_version(&place, HEALTH_TIMEOUT)
}

/// Turns a run configuration into an evaluation file, on stdout or in `output`.
///
/// # Errors
/// When the configuration is invalid, or `output` exists.
pub fn import_config(
    path: &Path,
    root: Option<&Path>,
    url: Option<&str>,
    output: Option<&Path>,
) -> Result<u8, Failure> {
    let config = read_config(path, root)?;
    let server = server(url)?;
    if !server.found {
        tell!("note: no server is named (OPENVIKING_URL, --url or ovcli.conf); {} is written", server.url);
    }
    let version = version_of(&server);
    if let Err(why) = &version {
        tell!("note: {} was asked for its version: {why}", server.url);
    }
    let reports = OutputPlace::of(&config).own().join("report");
    let of = EvaluationText {
        server: &server,
        version: version.as_deref().ok(),
        as_it_is: config.skip_ingestion,
        output: &reports,
    };
    let text = evaluation_text(&config, &of);
    match output {
        None => out(&text)?,
        Some(output) if output.exists() => {
            return Err(Failure::NotThere {
                what: format!("{} exists already; nothing was written", output.display()),
                hint: "give another name with --output, or remove it".to_string(),
            });
        }
        Some(output) => {
            let io = |error| Failure::Io { what: format!("write {}", output.display()), error };
            write_if_changed(output, text.as_bytes()).map_err(io)?;
            tell!("written: {}; run it with `ragstage run {}`", output.display(), output.display());
        }
    }
    Ok(exit::OK)
}

/// Runs a run configuration of OpenViking's benchmark.
///
/// # Errors
/// When the configuration is invalid, nobody says the server's version, or a step cannot be carried out.
pub fn run_config(path: &Path, flags: &OpenVikingFlags, run: &RunFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let refused = [
        ("--until", run.until.is_some()),
        ("--output", run.output.is_some()),
        ("--evaluator", !run.evaluator.is_empty()),
        ("--evaluator-file", !run.evaluator_file.is_empty()),
        ("--baseline", run.baseline.is_some()),
        ("--stamp", run.stamp.is_some()),
        ("--depfile", run.depfile.is_some()),
    ];
    if let Some((flag, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!(
            "{flag} does not go with --config; `ragstage import openviking` gives an evaluation file, which it goes with"
        )));
    }
    let config = read_config(path, flags.root.as_deref())?;
    let experiment = Experiment::open(config, server(flags.url.as_deref())?, run, store)?;
    let step = flags.step.unwrap_or_default();
    experiment.log.say("INFO", &format!("{}: step {step:?}", path.display()));
    let code = match step {
        BenchmarkStep::Gen => experiment.generate()?,
        BenchmarkStep::Eval => experiment.evaluate()?,
        BenchmarkStep::Del => experiment.delete()?,
        BenchmarkStep::All => experiment.all()?,
    };
    experiment.log.say("INFO", &format!("ended with {code}"));
    Ok(code)
}

/// One run configuration on its way.
struct Experiment<'a> {
    config: OpenVikingConfig,
    server: ServerPlace,
    place: OutputPlace,
    /// The evaluation file.
    file: PathBuf,
    log: std::sync::Arc<LogSink>,
    run: &'a RunFlags,
    store: StorePlace,
}

impl<'a> Experiment<'a> {
    fn open(
        config: OpenVikingConfig,
        server: ServerPlace,
        run: &'a RunFlags,
        store: Option<&Path>,
    ) -> Result<Self, Failure> {
        let place = OutputPlace::of(&config);
        let file = place.own().join("evaluation.yaml");
        let log = LogSink::open(&place.log_file)?;
        let store = store_place(store, std::slice::from_ref(&file));
        Ok(Experiment { config, server, place, file, log, run, store })
    }

    /// The store, which an earlier step may have made.
    fn store(&self) -> StorePlace {
        StorePlace { exists: self.store.exists || self.store.root.exists(), root: self.store.root.clone() }
    }

    /// The version that the evaluation file of an earlier step names.
    fn earlier_version(&self) -> Option<String> {
        let evaluation = read(&self.file, &|name| self.variable(name, true), &check_evaluator).ok()?;
        evaluation.recipes.into_iter().find_map(|recipe| match recipe.kind {
            RecipeKind::System(system) => Some(system.version),
            _ => None,
        })
    }

    /// Writes the evaluation file and reads it.
    fn evaluation(&self, version: Option<&str>, as_it_is: bool, lenient: bool) -> Result<Evaluation, Failure> {
        let output = self.place.own().join("report");
        let of = EvaluationText { server: &self.server, version, as_it_is, output: &output };
        let text = evaluation_text(&self.config, &of);
        let io = |error| Failure::Io { what: format!("write {}", self.file.display()), error };
        std::fs::create_dir_all(self.place.own()).map_err(io)?;
        write_if_changed(&self.file, text.as_bytes()).map_err(io)?;
        Ok(read(&self.file, &|name| self.variable(name, lenient), &check_evaluator)?)
    }

    /// An environment variable, or what a file has in its place. Where nobody is asked (`lenient`) the server's key is none of our
    /// business.
    fn variable(&self, name: &str, lenient: bool) -> Option<String> {
        match name {
            LITERAL_LLM_KEY => self.config.llm.api_key.clone().or_else(|| environment(name)),
            SERVER_KEY => {
                let key = environment(name).or_else(|| self.server.key.clone());
                key.or_else(|| lenient.then(|| "unset".to_string()))
            }
            _ => environment(name),
        }
    }

    fn all(&self) -> Result<u8, Failure> {
        let generated = self.generate()?;
        if [exit::INTERRUPTED, exit::INTERNAL, exit::STORE, exit::INPUT, exit::PROVIDER].contains(&generated) {
            return Ok(generated);
        }
        let evaluated = self.evaluate()?;
        let worst =
            if gravity(evaluated) < gravity(generated) || generated == exit::OK { evaluated } else { generated };
        if worst != exit::OK {
            tell!(
                "what was handed to the server stays there, for the same command to go on with; `--step del` removes it"
            );
            return Ok(worst);
        }
        self.delete()
    }

    /// Hands documents over, asks and answers; one failed question fails alone.
    fn generate(&self) -> Result<u8, Failure> {
        let version = match version_of(&self.server) {
            Ok(version) => version,
            Err(why) => match self.earlier_version() {
                Some(version) => {
                    tell!(
                        "note: {} was asked for its version: {why}; it is taken for {version}, as before",
                        self.server.url
                    );
                    version
                }
                None => {
                    let what = format!("the OpenViking server {} cannot be used: {why}", self.server.url);
                    tell!("error: {what}");
                    tell!("  hint: is it running? OPENVIKING_URL or --url names it");
                    self.log.say("ERROR", &what);
                    return Ok(exit::PROVIDER);
                }
            },
        };
        let mut evaluation = self.evaluation(Some(&version), false, false)?;
        if self.config.skip_ingestion {
            let settings = Settings::default();
            let has = has_current(&look_at(vec![evaluation.clone()], settings, self.store())?.batch)?;
            if has {
                tell!("skip_ingestion: what an earlier run has handed over is asked");
            } else {
                tell!("skip_ingestion: what is below viking://resources is asked as it is");
                evaluation = self.evaluation(Some(&version), true, false)?;
            }
        }
        let recall = EvaluatorSpec::parse(RECALL)
            .map_err(|error| Failure::Run(RunError::Internal(format!("{RECALL}: {error}"))))?;
        evaluation.evaluators = Some(vec![EvaluatorConfig::Spec(recall)]);
        evaluation.output = self.place.own().join("generated");
        let Done { batch, outcome, code } =
            execute(vec![evaluation], self.run, &self.store(), false, vec![Box::new(self.log.clone())])?;
        let run = outcome.evaluations.first().and_then(|evaluation| evaluation.run_id.as_deref());
        let artifacts = RunArtifacts::of(&batch, run)?;
        if let Some(documents) = artifacts.output::<Documents>("prepare", "", "documents")? {
            write_documents(&self.place.doc_output_dir, &documents, &batch.shared.sources)?;
        }
        let mut sections = Vec::new();
        if let Some(handle) = artifacts.output::<Handle>("ingest", "", "handle")? {
            sections.push(insertion_section(&handle));
        }
        let observed = |step: &str| artifacts.output::<Observations>(step, "", "observations");
        let tables = (
            artifacts.output::<Queries>("prepare", "", "queries")?,
            artifacts.output::<Golds>("prepare", "", "gold")?,
            artifacts.output::<Results>("retrieve", "", "results")?,
            artifacts.output::<Answers>("answer", "", "answers")?,
        );
        // Where a step broke down, what an earlier run has written stays.
        if outcome.errors.is_empty()
            && let (Some(queries), Some(golds), Some(results), Some(answers)) = tables
        {
            let (found, answered) =
                (observed("retrieve")?.unwrap_or_default(), observed("answer")?.unwrap_or_default());
            let recall = artifacts.output::<Scores>("score", RECALL, "scores")?.unwrap_or_default();
            let generated = Generated { queries, golds, results, answers, found, answered, recall };
            let file = generated.file(&self.config.dataset_name);
            write_json(&self.place.generated(), &file, 2)?;
            let (answered, asked) = file.counts();
            if answered > 0 {
                sections.push(query_section(&file.averages()));
            }
            let share = if asked == 0 { 0.0 } else { 100.0 * answered as f64 / asked as f64 };
            let line = format!("{answered} of {asked} questions have an answer (coverage {share:.1} %)");
            self.log.say("INFO", &line);
            out(&format!("{line}: {}\n", self.place.generated().display()))?;
        }
        if !sections.is_empty() {
            merge_report(&self.place.metrics(), sections)?;
        }
        Ok(code)
    }

    /// Scores what `generated_answers.json` holds, whoever wrote it.
    fn evaluate(&self) -> Result<u8, Failure> {
        let path = self.place.generated();
        let generated = match read_json(&path) {
            Ok(Some(generated)) => generated,
            Ok(None) => {
                return Err(Failure::NotThere {
                    what: format!("there are no answers to score: {} does not exist", path.display()),
                    hint: "make them with `--step gen`".to_string(),
                });
            }
            Err(what) => {
                return Err(Failure::NotThere { what, hint: "make it again with `--step gen`".to_string() });
            }
        };
        let version = self.earlier_version();
        let mut evaluation = self.evaluation(version.as_deref(), self.config.skip_ingestion, true)?;
        let place = ResponsesPlace::File {
            path,
            format: Some(ResponseFormat::OpenVikingAnswers),
            pick: Pick { recipe: None, query: None },
        };
        let config = ResponsesConfig { place, missing: Some(Missing::Failed), ignore_unknown: None };
        evaluation.add_response_sets(vec![("openviking".to_string(), config)], false);
        evaluation.output = self.place.own().join("evaluated");
        let Done { batch, outcome, code } =
            execute(vec![evaluation], self.run, &self.store(), true, vec![Box::new(self.log.clone())])?;
        let run = outcome.evaluations.first().and_then(|evaluation| evaluation.run_id.as_deref());
        let artifacts = RunArtifacts::of(&batch, run)?;
        let scores = |evaluator: &str| artifacts.output::<Scores>("score", &format!(" {evaluator}"), "scores");
        let (queries, golds) =
            (artifacts.output::<Queries>("prepare", "", "queries")?, artifacts.output::<Golds>("prepare", "", "gold")?);
        if let (true, Some(queries), Some(golds)) = (outcome.errors.is_empty(), queries, golds) {
            let case_scores = CaseScores {
                queries,
                golds,
                f1: scores(F1)?.unwrap_or_default(),
                recall: scores(RECALL)?.unwrap_or_default(),
                judged: scores(JUDGE)?.unwrap_or_default(),
            };
            let evaluated = evaluated(&generated, &self.config.dataset_name, &case_scores);
            write_json(&self.place.details(), &evaluated.details, 2)?;
            merge_report(&self.place.metrics(), evaluated.sections)?;
            out(&format!("Scores: {}\nMetrics: {}\n", self.place.details().display(), self.place.metrics().display()))?;
        }
        Ok(code)
    }

    /// Removes what this experiment has put into the server.
    fn delete(&self) -> Result<u8, Failure> {
        let version = match self.earlier_version() {
            Some(version) => Some(version),
            None => version_of(&self.server).ok(),
        };
        let evaluation = self.evaluation(version.as_deref(), false, false)?;
        let start = Instant::now();
        let look = look_at(vec![evaluation], Settings::default(), self.store())?;
        let code = delete_all(&look.batch)?;
        if code == exit::OK {
            merge_report(&self.place.metrics(), vec![deletion_section(start.elapsed().as_secs_f64())])?;
        }
        Ok(code)
    }
}
