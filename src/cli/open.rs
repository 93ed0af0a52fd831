//! From the files and flags of a command to a batch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ragstage_cache::Store;
use ragstage_stages::score::{Evaluator, EvaluatorSpec, evaluator};
use tempfile::TempDir;

use super::failure::Failure;
use crate::batch::{Batch, Settings};
use crate::evaluation::{Evaluation, EvaluatorConfig, evaluator_file, read};
use crate::exec::{EventSink, Fanout, Interrupt};
use crate::models::ModelHome;

/// Where the store of a command is.
pub struct StorePlace {
    /// Its folder.
    pub root: PathBuf,
    /// Whether there is a store already.
    pub exists: bool,
}

/// The store that was asked for; else the nearest `.ragstage` at or above the folder of the first evaluation file; else the
/// nearest at or above the current folder; else one to be made here.
pub fn store_place(asked: Option<&Path>, files: &[PathBuf]) -> StorePlace {
    const NAME: &str = ".ragstage";
    let is_store = |root: &Path| root.join("version").is_file();
    if let Some(asked) = asked {
        return StorePlace { root: asked.to_path_buf(), exists: is_store(asked) };
    }
    let here = std::env::current_dir().unwrap_or_default();
    let beside = files.first().and_then(|file| std::path::absolute(file).ok());
    let above = |start: &Path| start.ancestors().map(|folder| folder.join(NAME)).find(|root| is_store(root));
    match beside.as_deref().and_then(Path::parent).and_then(above).or_else(|| above(&here)) {
        Some(root) => StorePlace { root, exists: true },
        None => StorePlace { root: PathBuf::from(NAME), exists: false },
    }
}

/// What `of` finds in the last run of the evaluation `name` that has it.
///
/// # Errors
/// When the store cannot be read, and those of `of`: another run must not stand in for one that is damaged.
pub fn last_run<T>(
    store: &Store,
    name: &str,
    of: &dyn Fn(&str) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    for run in store.runs().list()?.iter().filter(|run| run.evaluation == name) {
        if let Some(found) = of(&run.id)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether a command calls systems under test, and so needs the secrets that reach them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// It does; a variable that is not set is a fault.
    Needed,
    /// It does not; a variable that is not set is none of its business.
    NotNeeded,
}

/// The evaluation file that a folder stands for, or the file itself.
fn file_of(given: &Path) -> PathBuf {
    let inside = given.join("evaluation.yaml");
    if given.is_dir() && inside.is_file() { inside } else { given.to_path_buf() }
}

/// Reads the evaluation files; all their faults, not only the first file's.
///
/// # Errors
/// When one of them is invalid, or two bear one name.
pub fn evaluations(files: &[PathBuf], secrets: Secrets) -> Result<Vec<Evaluation>, Failure> {
    let environment = |name: &str| match (std::env::var(name).ok(), secrets) {
        // Not blank, for a blank key is a fault; it is sent to nobody.
        (None, Secrets::NotNeeded) if !ModelHome::VARIABLES.contains(&name) => Some("unset".to_string()),
        (found, _) => found,
    };
    let mut evaluations: Vec<Evaluation> = Vec::new();
    let mut failed = None;
    for file in files {
        match read(&file_of(file), &environment, &check_evaluator) {
            Ok(evaluation) => evaluations.push(evaluation),
            Err(errors) => {
                // All but the last are printed here, so that one look shows everything there is to mend.
                if let Some(earlier) = failed.replace(Failure::Evaluation(errors)) {
                    earlier.print();
                }
            }
        }
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    for (position, evaluation) in evaluations.iter().enumerate() {
        if let Some(twin) = evaluations[..position].iter().find(|other| other.name == evaluation.name) {
            return Err(Failure::NotThere {
                what: format!(
                    "{} and {} are both named {:?}",
                    twin.path.display(),
                    evaluation.path.display(),
                    evaluation.name
                ),
                hint: "give each evaluation a `name` of its own; run records and reports go by it".to_string(),
            });
        }
    }
    Ok(evaluations)
}

/// Refuses to score with evaluators whose secrets are not there: of those that reach systems under test, scoring needs none.
///
/// # Errors
/// When an environment variable that an evaluator is given is not set.
pub fn require_secrets_of_evaluators(evaluations: &[Evaluation]) -> Result<(), Failure> {
    let programs = evaluations.iter().flat_map(|evaluation| evaluation.evaluators.iter().flatten());
    let programs = programs.filter_map(|config| match config {
        EvaluatorConfig::Program(program) => Some((&program.name, &program.launch.variables)),
        _ => None,
    });
    let judges = evaluations.iter().flat_map(Evaluation::judges);
    let judges = judges.map(|config| (&config.judge.name, &config.judge.options.model.endpoint.variables));
    for (evaluator, variables) in programs.chain(judges) {
        if let Some((name, _)) = variables.iter().find(|(name, _)| std::env::var(name).is_err()) {
            return Err(Failure::NotThere {
                what: format!("the environment variable `{name}`, which evaluator `{evaluator}` is given, is not set"),
                hint: format!("set {name} in the environment that ragstage is started in"),
            });
        }
    }
    Ok(())
}

/// Whether both are there, and the same.
pub fn same_file(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Refuses to write over what is read.
///
/// # Errors
/// When one of `outputs` is an evaluation file or a file of a benchmark.
pub fn refuse_overwriting(outputs: &[(&str, &Path)], evaluations: &[Evaluation]) -> Result<(), Failure> {
    for evaluation in evaluations {
        let listed = evaluation.benchmark.listing().into_iter().map(|file| file.path);
        for input in listed.chain([evaluation.path.clone()]) {
            if let Some((flag, path)) = outputs.iter().find(|(_, path)| same_file(path, &input)) {
                let shown = path.display();
                return Err(Failure::Usage(format!("{flag} {shown} would write over a file that is read")));
            }
        }
    }
    Ok(())
}

/// Whether an evaluator exists and takes its options.
///
/// # Errors
/// A message, and the nearest name that does.
pub fn check_evaluator(spec: &EvaluatorSpec) -> Result<(), (String, Option<String>)> {
    evaluator(spec).map(drop).map_err(|error| (error.message, error.nearest))
}

/// The evaluator that the `text` of `flag` names.
///
/// # Errors
/// When it is none.
pub fn named_evaluator(flag: &str, text: &str) -> Result<(EvaluatorSpec, Box<dyn Evaluator>), Failure> {
    let wrong = |why: String, nearest: Option<String>| {
        let meant = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        Failure::Usage(format!("{flag} {text:?}: {why}{meant}"))
    };
    let spec = EvaluatorSpec::parse(text).map_err(|error| wrong(error.to_string(), None))?;
    let made = evaluator(&spec).map_err(|error| wrong(error.message, error.nearest))?;
    Ok((spec, made))
}

/// Reads evaluators given on the command line.
///
/// # Errors
/// When one of them is no evaluator, or a file says of itself what it may not.
pub fn extra_evaluators(texts: &[String], files: &[PathBuf]) -> Result<Vec<EvaluatorConfig>, Failure> {
    let mut configs = Vec::new();
    for text in texts {
        configs.push(EvaluatorConfig::Spec(named_evaluator("--evaluator", text)?.0));
    }
    for file in files {
        configs.push(evaluator_file(file).map_err(Failure::Evaluation)?);
    }
    Ok(configs)
}

/// Says on stderr what damage a command that only looks has met, as a run says it in its events.
pub fn tell_incidents(batch: &Batch) {
    for incident in batch.shared.store.take_incidents() {
        tell!("store: {incident}");
    }
}

/// A batch that only looks: it makes no store where there is none.
pub struct Look {
    /// The batch.
    pub batch: Batch,
    /// Where its store is, or would be.
    pub place: StorePlace,
    /// An empty store, for as long as the batch lives, where there is none.
    _empty: Option<TempDir>,
}

/// Opens evaluations to look at them: no events, no interruption, no secrets, nothing made.
///
/// # Errors
/// When a file is invalid or the store cannot be opened.
pub fn look(files: &[PathBuf], settings: Settings, store: Option<&Path>) -> Result<Look, Failure> {
    look_with(files, settings, store, Secrets::NotNeeded)
}

/// As [`look`], with secrets where a command needs them.
///
/// # Errors
/// As [`look`].
pub fn look_with(
    files: &[PathBuf],
    settings: Settings,
    store: Option<&Path>,
    secrets: Secrets,
) -> Result<Look, Failure> {
    look_at(evaluations(files, secrets)?, settings, store_place(store, files))
}

/// Opens evaluations that were read already, to look at them.
///
/// # Errors
/// When the store cannot be opened.
pub fn look_at(evaluations: Vec<Evaluation>, settings: Settings, place: StorePlace) -> Result<Look, Failure> {
    let empty = match place.exists || place.root.exists() {
        true => None,
        false => {
            let made = tempfile::tempdir();
            Some(made.map_err(|error| Failure::Io { what: "make a temporary folder".to_string(), error })?)
        }
    };
    let root = empty.as_ref().map_or(place.root.as_path(), TempDir::path);
    let events: Arc<dyn EventSink> = Arc::new(Fanout::default());
    let batch = Batch::open(evaluations, settings, root, events, Interrupt::default())?;
    Ok(Look { batch, place, _empty: empty })
}
