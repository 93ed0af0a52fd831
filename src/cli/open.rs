//! From the files and flags of a command to a batch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ragstage_stages::score::{EvaluatorSpec, evaluator};

use super::failure::Failure;
use crate::batch::{Batch, Settings};
use crate::evaluation::{Evaluation, read};
use crate::exec::{EventSink, Fanout, Interrupt};

/// The store's folder: what was asked for, else the nearest `.ragstage` at or above the current folder, else one here.
pub fn store_root(asked: Option<&Path>) -> PathBuf {
    const NAME: &str = ".ragstage";
    if let Some(asked) = asked {
        return asked.to_path_buf();
    }
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors()
        .map(|folder| folder.join(NAME))
        .find(|candidate| candidate.join("version").is_file())
        .unwrap_or_else(|| PathBuf::from(NAME))
}

/// Reads the evaluation files; all their faults, not only the first file's.
///
/// # Errors
/// When one of them is invalid, or two bear one name.
pub fn evaluations(files: &[PathBuf]) -> Result<Vec<Evaluation>, Failure> {
    let mut evaluations: Vec<Evaluation> = Vec::new();
    let mut failed = None;
    for file in files {
        match read(file, &|name| std::env::var(name).ok(), &check_evaluator) {
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

fn check_evaluator(spec: &EvaluatorSpec) -> Result<(), (String, Option<String>)> {
    evaluator(spec).map(drop).map_err(|error| (error.message, error.nearest))
}

/// Reads evaluators given on the command line.
///
/// # Errors
/// When one of them is no evaluator.
pub fn extra_evaluators(texts: &[String]) -> Result<Vec<EvaluatorSpec>, Failure> {
    texts
        .iter()
        .map(|text| {
            let spec =
                EvaluatorSpec::parse(text).map_err(|error| Failure::Usage(format!("--evaluator {text:?}: {error}")))?;
            check_evaluator(&spec).map_err(|(message, nearest)| {
                let hint = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
                Failure::Usage(format!("--evaluator {text:?}: {message}{hint}"))
            })?;
            Ok(spec)
        })
        .collect()
}

/// Says on stderr what damage a command that only looks has met, as a run says it in its events.
pub fn tell_incidents(batch: &Batch) {
    for incident in batch.shared.store.take_incidents() {
        tell!("store: {incident}");
    }
}

/// A batch that only looks: no events, no interruption.
///
/// # Errors
/// When a file is invalid or the store cannot be opened.
pub fn quiet_batch(files: &[PathBuf], settings: Settings, store: Option<&Path>) -> Result<Batch, Failure> {
    let events: Arc<dyn EventSink> = Arc::new(Fanout::default());
    Ok(Batch::open(evaluations(files)?, settings, &store_root(store), events, Interrupt::default())?)
}
