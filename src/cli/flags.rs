//! Flags, and which command they lead to.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};
use ragstage_stages::step::{Stage, Step};

use super::compare::CompareFlags;
use super::failure::Failure;
use super::import::ImportFlags;
use super::openviking::OpenVikingFlags;
use super::score::ScoreFlags;
use super::{
    cache, compare, completions, data, explain, graph, import, init, kb, models, openviking, plan, report, run, schema,
    score, status,
};
use crate::exit;
use crate::graph::GraphFormat;

/// Evaluate RAG knowledge recipes on benchmarks, and pay only for what changed.
#[derive(Parser)]
#[command(name = "ragstage", version, after_help = EXIT_CODES)]
struct Flags {
    #[command(subcommand)]
    command: Command,
    /// Where artifacts are kept [default: the nearest .ragstage above the evaluation file, else above this folder, else ./.ragstage]
    #[arg(long, global = true, env = "RAGSTAGE_STORE", value_name = "DIR")]
    store: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0 all done            1 our bug               2 command line wrong
  3 input invalid       4 plan --check: stale   10 some items failed
  11 coverage too low   12 a gate failed        13 worse than the baseline
  20 provider unusable  30 store damaged        130 interrupted; the same command continues";

const MODELS_HELP: &str = "\
Models are kept in $RAGSTAGE_MODELS, else in $XDG_DATA_HOME/ragstage/models, else in ~/.local/share/ragstage/models.

Example:
  ragstage models list
  ragstage models get wordllama-l2-256
  ragstage models get my-model --from /data/my-model";

const DATA_HELP: &str = "\
Datasets are downloaded to data/NAME, and what was downloaded is recorded in data/ragstage-data.lock.

Example:
  ragstage data list
  ragstage data download locomo
  ragstage data sample locomo --documents 3 --questions 80 --seed 7
  ragstage data prepare qasper --questions 200";

const SCORE_HELP: &str = "\
Example:
  ragstage score evaluation.yaml --evaluator 'nDCG@20'
  ragstage score evaluation.yaml --response-set runs/bm25.trec
  ragstage score --qrels qrels.tsv --run run.trec --measure nDCG@10 --measure AP
  ragstage score --cases cases.jsonl --responses responses.jsonl --evaluator token_f1";

/// Commands that use no store, and so do not offer to choose one.
const WITHOUT_STORE: [&str; 5] = ["models", "data", "init", "schema", "completions"];

#[derive(Subcommand)]
enum Command {
    /// Bring evaluations up to date and write their reports
    #[command(
        after_help = "Example:\n  ragstage run evaluation.yaml\n  ragstage run a.yaml b.yaml --jobs 4 --stamp .done --depfile .deps.mk\n  ragstage run --config config/locomo_config.yaml --step gen"
    )]
    Run(Box<RunCommandFlags>),
    /// Score cached responses again; never asks a query
    #[command(after_help = SCORE_HELP)]
    Score(Box<ScoreFlags>),
    /// Check responses that were made elsewhere against a benchmark, and write them in our own format; or turn a run configuration of
    /// OpenViking's benchmark into an evaluation file
    #[command(
        after_help = "Example:\n  ragstage import evaluation.yaml runs/bm25.trec -o responses/bm25.parquet\n  ragstage import evaluation.yaml old/report.json --recipe base --query vectors\n  ragstage import openviking config/locomo_config.yaml -o evaluation.yaml"
    )]
    Import(ImportFlags),
    /// Compare evaluations, or the recipes of one, case by case
    #[command(
        after_help = "Example:\n  ragstage compare evaluation.yaml\n  ragstage compare reports/main/report.json evaluation.yaml\n  ragstage compare 'evaluation.yaml#small' 'evaluation.yaml#large' --measure nDCG@10"
    )]
    Compare(CompareFlags),
    /// Say what would run and why, without running it
    #[command(
        after_help = "Example:\n  ragstage plan evaluation.yaml\n  ragstage plan evaluation.yaml --check || echo stale"
    )]
    Plan(PlanFlags),
    /// Show how each stage stands and what the last run did
    #[command(after_help = "Example:\n  ragstage status evaluation.yaml")]
    Status(StatusFlags),
    /// Say why a stage, or one of its items, is stale or last ran
    #[command(
        after_help = "Example:\n  ragstage explain retrieve\n  ragstage explain score case-17 --file evaluation.yaml"
    )]
    Explain(ExplainFlags),
    /// Draw the actions and what they depend on
    #[command(after_help = "Example:\n  ragstage graph evaluation.yaml --format mermaid")]
    Graph(GraphFlags),
    /// Print the report of the last run
    #[command(
        after_help = "Example:\n  ragstage report evaluation.yaml\n  ragstage report evaluation.yaml --format json | jq .score_summary"
    )]
    Report(ReportFlags),
    /// List or remove what runs have put into systems under test
    #[command(after_help = "Example:\n  ragstage kb list evaluation.yaml\n  ragstage kb delete evaluation.yaml")]
    Kb(KbFlags),
    /// Look after the store
    #[command(after_help = "Example:\n  ragstage cache size\n  ragstage cache verify")]
    Cache(CacheFlags),
    /// Fetch and list the models of embedders that run in process
    #[command(after_help = MODELS_HELP)]
    Models(ModelsFlags),
    /// List and download public datasets, and take parts of them; a run never downloads one
    #[command(after_help = DATA_HELP)]
    Data(DataFlags),
    /// Write a commented evaluation file that runs, with a tiny benchmark
    #[command(after_help = "Example:\n  ragstage init my-evaluation && cd my-evaluation && ragstage run")]
    Init(InitFlags),
    /// Print the JSON Schema of the evaluation file
    #[command(after_help = "Example:\n  ragstage schema > evaluation.schema.json")]
    Schema,
    /// Print a shell's completion script
    #[command(
        after_help = "Example:\n  ragstage completions bash > ~/.local/share/bash-completion/completions/ragstage"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document whose `format` field names its version.
    Json,
}

/// A stage or one of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps(pub Vec<Step>);

fn steps(text: &str) -> Result<Steps, String> {
    let of = |stage: Stage| Step::ALL.into_iter().filter(|step| step.stage() == stage).collect();
    if let Ok(stage) = text.parse::<Stage>() {
        return Ok(Steps(of(stage)));
    }
    text.parse::<Step>().map(|step| Steps(vec![step])).map_err(|_| {
        let stages: Vec<_> = Stage::ALL.iter().map(|stage| stage.name()).collect();
        let steps: Vec<_> = Step::ALL.iter().map(|step| step.name()).collect();
        format!("expected a stage ({}) or a step ({})", stages.join(", "), steps.join(", "))
    })
}

fn stage(text: &str) -> Result<Stage, String> {
    text.parse::<Stage>().map_err(|_| {
        let stages: Vec<_> = Stage::ALL.iter().map(|stage| stage.name()).collect();
        format!("expected one of {}", stages.join(", "))
    })
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(jobs) if (1..=1024).contains(&jobs) => Ok(jobs),
        _ => Err("expected a whole number from 1 to 1024".to_string()),
    }
}

/// Flags of `run` and `score`.
#[derive(Args)]
pub struct RunFlags {
    /// Evaluation files; they share every action that they have in common [default: evaluation.yaml]
    #[arg(value_name = "FILE")]
    pub given_files: Vec<PathBuf>,
    /// Actions that compute at once [default: one per core]
    #[arg(short, long, value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Run what does not depend on a failed action, whatever the evaluation files say
    #[arg(short, long)]
    pub keep_going: bool,
    /// Stop after this stage
    #[arg(long, value_parser = stage, value_name = "STAGE")]
    pub until: Option<Stage>,
    /// Run this stage or step again, whatever is cached; may be given several times
    #[arg(long, value_parser = steps, value_name = "STAGE")]
    pub force: Vec<Steps>,
    /// An evaluator beyond those of the file, e.g. nDCG@20; may be given several times
    #[arg(long, value_name = "EVALUATOR")]
    pub evaluator: Vec<String>,
    /// A report.json that gates compare with [default: what the file says]
    #[arg(long, value_name = "REPORT")]
    pub baseline: Option<PathBuf>,
    /// A Python file with `def evaluate(case, response)`, as an evaluator beyond those of the file
    #[arg(long, value_name = "FILE.py")]
    pub evaluator_file: Vec<PathBuf>,
    /// Where the report files go (with one evaluation file) [default: what the file says]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How the outcome is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Touch this file when all went well
    #[arg(long, value_name = "FILE")]
    pub stamp: Option<PathBuf>,
    /// Write a Makefile rule that lists every file read
    #[arg(long, value_name = "FILE")]
    pub depfile: Option<PathBuf>,
    /// Write every event as a line of JSON to this file (`-`: stdout)
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// Flags of `run`.
#[derive(Args)]
pub struct RunCommandFlags {
    /// What it shares with `score`.
    #[command(flatten)]
    pub run: RunFlags,
    /// A run of OpenViking's benchmark.
    #[command(flatten)]
    pub openviking: OpenVikingFlags,
}

impl RunFlags {
    /// The evaluation files. The default is no default of the parser's: a scorer without them must tell it from a file that
    /// was named.
    pub fn files(&self) -> Vec<PathBuf> {
        match self.given_files.as_slice() {
            [] => vec![PathBuf::from("evaluation.yaml")],
            given => given.to_vec(),
        }
    }
}

/// Flags of `plan`.
#[derive(Args)]
pub struct PlanFlags {
    /// Evaluation files
    #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Exit with 4 if anything would run
    #[arg(long)]
    pub check: bool,
    /// Plan only up to this stage
    #[arg(long, value_parser = stage, value_name = "STAGE")]
    pub until: Option<Stage>,
    /// An evaluator beyond those of the file; may be given several times
    #[arg(long, value_name = "EVALUATOR")]
    pub evaluator: Vec<String>,
    /// A Python file with `def evaluate(case, response)`, as an evaluator beyond those of the file
    #[arg(long, value_name = "FILE.py")]
    pub evaluator_file: Vec<PathBuf>,
    /// List every action, the fresh ones too
    #[arg(short, long)]
    pub all: bool,
    /// How the plan is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Flags of `status`.
#[derive(Args)]
pub struct StatusFlags {
    /// Evaluation files
    #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Flags of `kb`.
#[derive(Args)]
pub struct KbFlags {
    /// What to do.
    #[command(subcommand)]
    pub command: KbCommand,
}

/// What `kb` does.
#[derive(Subcommand)]
pub enum KbCommand {
    /// List what runs of the evaluations have put into their systems under test
    #[command(after_help = "Example:\n  ragstage kb list evaluation.yaml")]
    List {
        /// Evaluation files
        #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Remove it from the systems, and nothing else; the next run that asks something puts it there again
    #[command(after_help = "Example:\n  ragstage kb delete evaluation.yaml")]
    Delete {
        /// Evaluation files
        #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Flags of `explain`.
#[derive(Args)]
pub struct ExplainFlags {
    /// A stage or step
    #[arg(value_parser = steps, value_name = "STAGE")]
    pub stage: Steps,
    /// A case, a document, or part of an action's label (a unit, a recipe, a query, an evaluator); several narrow it down
    #[arg(value_name = "ITEM")]
    pub item: Vec<String>,
    /// Evaluation file; may be given several times
    #[arg(short, long, default_value = "evaluation.yaml", value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Flags of `graph`.
#[derive(Args)]
pub struct GraphFlags {
    /// Evaluation files
    #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The graph's language
    #[arg(long, value_enum, default_value = "dot")]
    pub format: GraphFormat,
}

/// Flags of `report`.
#[derive(Args)]
pub struct ReportFlags {
    /// Evaluation file
    #[arg(default_value = "evaluation.yaml", value_name = "FILE")]
    pub file: PathBuf,
    /// The report's language
    #[arg(long, value_enum, default_value = "md")]
    pub format: ReportFormat,
    /// Write the report's files into this folder instead of printing one
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// The languages a report is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Markdown.
    Md,
    /// JSON.
    Json,
    /// HTML.
    Html,
}

/// Flags of `cache`.
#[derive(Args)]
pub struct CacheFlags {
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// What can be done to the store.
#[derive(Subcommand)]
pub enum CacheCommand {
    /// How many bytes and files it holds, by kind
    #[command(after_help = "Example:\n  ragstage cache size")]
    Size {
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Read every artifact and compare it with its digest
    #[command(after_help = "Example:\n  ragstage cache verify")]
    Verify {
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Say what no recent run uses, and what making it again would cost; --apply deletes it
    #[command(after_help = "Example:\n  ragstage cache gc\n  ragstage cache gc --keep-runs 1 --apply")]
    Gc {
        /// Runs of each evaluation whose artifacts are kept
        #[arg(long, default_value_t = 5)]
        keep_runs: usize,
        /// Nothing younger than this many hours is deleted
        #[arg(long, default_value_t = 24)]
        grace_hours: u64,
        /// Delete it
        #[arg(long)]
        apply: bool,
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
}

/// Flags of `models`.
#[derive(Args)]
pub struct ModelsFlags {
    #[command(subcommand)]
    pub command: ModelsCommand,
}

/// What can be done about models.
#[derive(Subcommand)]
pub enum ModelsCommand {
    /// The models that are known, and those that are here
    #[command(after_help = "Example:\n  ragstage models list\n  ragstage models list --format json | jq .folder")]
    List {
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Fetch a model, or continue where an earlier attempt stopped; prints the SHA-256 of its files
    #[command(
        after_help = "Example:\n  ragstage models get wordllama-l2-256\n  ragstage models get my-model --from /data/my-model"
    )]
    Get {
        /// A model of `ragstage models list`; or what a model of your own shall be called, with --from
        name: String,
        /// A folder, or a URL that its files are below [default: where its publisher keeps it]
        #[arg(long, value_name = "DIR|URL")]
        from: Option<String>,
    },
    /// Print the folder of a model that is here
    #[command(after_help = "Example:\n  ls $(ragstage models path wordllama-l2-256)")]
    Path {
        /// Its name
        name: String,
    },
}

/// Flags of `data`.
#[derive(Args)]
pub struct DataFlags {
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What can be done about datasets.
#[derive(Subcommand)]
pub enum DataCommand {
    /// The datasets that are known
    #[command(
        after_help = "Example:\n  ragstage data list\n  ragstage data list --format json | jq -r '.datasets[].name'"
    )]
    List {
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// What is known of a dataset: counts, categories, licence, citation, where it is from
    #[command(after_help = "Example:\n  ragstage data info locomo")]
    Info {
        /// A dataset of `ragstage data list`
        name: String,
        /// How it is printed
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Download a dataset, or continue where an earlier attempt stopped; prints the SHA-256 of its files
    #[command(
        after_help = "Example:\n  ragstage data download locomo\n  ragstage data download qasper --to /data/qasper\n  ragstage data download beir_scifact --mirror /downloads/scifact.zip"
    )]
    Download(DownloadFlags),
    /// Take a part of a dataset that is here, as a folder of the same layout
    #[command(
        after_help = "Example:\n  ragstage data sample locomo --documents 3\n  ragstage data sample syllabusqa --documents 7 --questions 90 --seed 42 --algorithm openviking\n  ragstage data sample qasper --questions 200 --exact"
    )]
    Sample(SampleFlags),
    /// Download a dataset and take a part of it
    #[command(
        after_help = "Example:\n  ragstage data prepare locomo --documents 3 --to samples/locomo-3\n  ragstage data prepare financebench --documents 3 --questions 12 --seed 42 --algorithm openviking"
    )]
    Prepare(PrepareFlags),
}

/// Flags of `data download`.
#[derive(Args)]
pub struct DownloadFlags {
    /// A dataset of `ragstage data list`
    pub name: String,
    /// Its folder [default: data/NAME]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Take its files from below this URL, from this folder, or take this one file [default: where its publisher keeps it]
    #[arg(long, value_name = "URL|PATH")]
    pub mirror: Option<String>,
    /// Download although it is there, replace its folder, and record what changed
    #[arg(long)]
    pub force: bool,
}

/// Flags of `data sample`.
#[derive(Args)]
pub struct SampleFlags {
    /// A dataset of `ragstage data list`
    pub name: String,
    #[command(flatten)]
    pub part: PartFlags,
    /// The folder of the dataset as it was downloaded [default: data/NAME]
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// The folder of the sample, which is replaced if it is one [default: samples/NAME]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

/// Which part of a dataset.
#[derive(Args)]
#[group(id = "part")]
pub struct PartFlags {
    /// How many documents
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub documents: Option<u64>,
    /// How many questions; documents keep all of theirs, so that there are at most so many, unless --exact or --documents is given
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub questions: Option<u64>,
    /// Everything
    #[arg(long, conflicts_with_all = ["documents", "questions"])]
    pub full: bool,
    /// Draw exactly so many questions, by category, and keep the documents that have them
    #[arg(long, requires = "questions", conflicts_with_all = ["documents", "full"])]
    pub exact: bool,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub seed: u64,
    /// How it is drawn
    #[arg(long, value_enum, default_value_t)]
    pub algorithm: SampleAlgorithm,
    /// How OpenViking's algorithm draws questions
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<SampleMode>,
}

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SampleAlgorithm {
    /// By a hash of seed and id, so that the order of the files does not matter, by category.
    #[default]
    Stable,
    /// As OpenViking draws, to the last question.
    Openviking,
}

/// How OpenViking draws questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SampleMode {
    /// As many of each category.
    Stratified,
    /// Whatever their category.
    Random,
}

/// Flags of `data prepare`.
#[derive(Args)]
pub struct PrepareFlags {
    /// A dataset of `ragstage data list`
    pub name: String,
    #[command(flatten)]
    pub part: PartFlags,
    /// The folder that it is downloaded to [default: data/NAME]
    #[arg(long, value_name = "DIR")]
    pub download_to: Option<PathBuf>,
    /// Take its files from below this URL, from this folder, or take this one file [default: where its publisher keeps it]
    #[arg(long, value_name = "URL|PATH")]
    pub mirror: Option<String>,
    /// Download although it is there, replace its folder, and record what changed
    #[arg(long)]
    pub force: bool,
    /// The folder of the sample, which is replaced if it is one [default: samples/NAME]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

/// Flags of `init`.
#[derive(Args)]
pub struct InitFlags {
    /// Folder to write into
    #[arg(default_value = ".", value_name = "DIR")]
    pub folder: PathBuf,
}

/// The command line; `--store` is taken everywhere, and shown where it means something.
fn command() -> clap::Command {
    let hidden = || Arg::new("store").long("store").value_parser(value_parser!(PathBuf)).global(true).hide(true);
    WITHOUT_STORE
        .into_iter()
        .fold(Flags::command(), |command, name| command.mut_subcommand(name, |sub| sub.arg(hidden())))
}

/// The program.
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches().and_then(|matches| Flags::from_arg_matches(&matches));
    let flags = match parsed {
        Ok(flags) => flags,
        Err(error) => {
            // `--help` and `--version` come this way too; a closed pipe is no reason to complain.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::OK });
        }
    };
    let store = flags.store.as_deref();
    let outcome: Result<u8, Failure> = match &flags.command {
        Command::Run(flags) => match &flags.openviking.config {
            Some(config) => openviking::run_config(config, &flags.openviking, &flags.run, store),
            None => run::run(&flags.run, store, false, &|_| Ok(())),
        },
        Command::Score(flags) => score::score(flags, store),
        Command::Import(flags) => import::import(flags, store),
        Command::Compare(flags) => compare::compare(flags, store),
        Command::Plan(flags) => plan::plan(flags, store),
        Command::Status(flags) => status::status(flags, store),
        Command::Explain(flags) => explain::explain(flags, store),
        Command::Graph(flags) => graph::graph(flags, store),
        Command::Report(flags) => report::report(flags, store),
        Command::Kb(flags) => kb::kb(flags, store),
        Command::Cache(flags) => cache::cache(flags, store),
        Command::Models(flags) => models::models(flags),
        Command::Data(flags) => data::data(flags),
        Command::Init(flags) => init::init(flags),
        Command::Schema => schema::schema(),
        Command::Completions { shell } => completions::completions::<Flags>(*shell),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code())
        }
    }
}
