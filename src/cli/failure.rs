//! Errors as sentences with advice, and the exit codes they lead to.

use std::io;
use std::path::PathBuf;

use ragstage_cache::{StoreError, StoreErrorKind};
use ragstage_stages::error::InputError;

use crate::data::sample::SampleError;
use crate::download::{FetchError, FetchErrorKind};
use crate::evaluation::EvaluationErrors;
use crate::exec::RunError;
use crate::exit;
use crate::openviking::OpenVikingError;

/// Most input errors that are printed one by one.
const MOST_SHOWN: usize = 50;

/// A command that could not be carried out.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that does not go together.
    Usage(String),
    /// An evaluation file is invalid.
    Evaluation(EvaluationErrors),
    /// A run failed as a whole.
    Run(RunError),
    /// What was asked for is not there.
    NotThere {
        /// What is missing.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file or stream outside the store.
    Io {
        /// What was being done.
        what: String,
        /// Why it failed.
        error: io::Error,
    },
    /// A file that would have been overwritten.
    Exists(PathBuf),
    /// A model could not be brought here.
    Model(FetchError),
    /// A dataset could not be brought here.
    Data(FetchError),
    /// A dataset could not be sampled.
    Sample(SampleError),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure::Run(error)
    }
}

impl From<OpenVikingError> for Failure {
    fn from(error: OpenVikingError) -> Self {
        match error {
            OpenVikingError::Io { what, error } => Failure::Io { what, error },
            OpenVikingError::Input { what, hint } => Failure::NotThere { what, hint },
            OpenVikingError::Run(error) => Failure::Run(error),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Run(RunError::Store(error))
    }
}

impl From<EvaluationErrors> for Failure {
    fn from(errors: EvaluationErrors) -> Self {
        Failure::Evaluation(errors)
    }
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => exit::USAGE,
            Failure::Evaluation(_) | Failure::NotThere { .. } | Failure::Exists(_) | Failure::Io { .. } => exit::INPUT,
            Failure::Run(error) => code_of(error),
            Failure::Sample(SampleError::Usage(_)) => exit::USAGE,
            Failure::Sample(_) => exit::INPUT,
            Failure::Model(error) | Failure::Data(error) => match error.kind {
                FetchErrorKind::Connection(_) | FetchErrorKind::Status { .. } => exit::PROVIDER,
                _ => exit::INPUT,
            },
        }
    }

    /// Prints what happened and what to do, on stderr.
    pub fn print(&self) {
        match self {
            Failure::Usage(why) => tell!("error: {why}"),
            Failure::Evaluation(errors) => {
                for diagnostic in &errors.diagnostics {
                    tell!("{}", diagnostic.render(&errors.source));
                }
                let count = errors.diagnostics.len();
                tell!("error: {count} fault{} in the {}", if count == 1 { "" } else { "s" }, errors.what);
            }
            Failure::Run(error) => print_run_error(error),
            Failure::NotThere { what, hint } => {
                tell!("error: {what}");
                tell!("  hint: {hint}");
            }
            Failure::Io { what, error } => tell!("error: cannot {what}: {error}"),
            Failure::Exists(path) => {
                tell!("error: {} exists already; nothing was written", path.display());
                tell!("  hint: choose another folder: ragstage init DIR");
            }
            Failure::Model(error) => {
                tell!("error: {error}");
                tell!("  hint: {}", model_hint(error));
            }
            Failure::Data(error) => {
                tell!("error: {error}");
                tell!("  hint: {}", data_hint(error));
            }
            Failure::Sample(SampleError::Usage(why)) => tell!("error: {why}"),
            Failure::Sample(SampleError::Input(errors)) => print_inputs(errors),
            Failure::Sample(SampleError::Refused { what, hint }) => {
                tell!("error: {what}");
                tell!("  hint: {hint}");
            }
            Failure::Sample(SampleError::Files(error)) => tell!("error: {error}"),
        }
    }
}

/// The exit code of a failed run.
pub fn code_of(error: &RunError) -> u8 {
    match error {
        RunError::Input(_) | RunError::NotAllowed(_) | RunError::Publish { .. } => exit::INPUT,
        RunError::Store(_) => exit::STORE,
        RunError::Provider(_) => exit::PROVIDER,
        RunError::Interrupted => exit::INTERRUPTED,
        RunError::Internal(_) => exit::INTERNAL,
    }
}

/// Prints a failed run's error with advice.
pub fn print_run_error(error: &RunError) {
    match error {
        RunError::Input(errors) => print_inputs(errors),
        RunError::Store(error) => {
            tell!("error: the store: {error}");
            if let Some(hint) = store_hint(error) {
                tell!("  hint: {hint}");
            }
        }
        RunError::NotAllowed(actions) => {
            tell!("error: responses are missing, and scoring never asks a query. These would have to run first:");
            for action in actions.iter().take(MOST_SHOWN) {
                let reasons: Vec<String> = action.reasons.iter().map(ToString::to_string).collect();
                tell!("  {} ({})", action.label, reasons.join("; "));
            }
            if actions.len() > MOST_SHOWN {
                tell!("  ... and {} more", actions.len() - MOST_SHOWN);
            }
            tell!(
                "  hint: `ragstage run` asks the missing queries; `ragstage score --response-set last` scores what the last run was given"
            );
        }
        RunError::Publish { path, error } => {
            tell!("error: the report {} cannot be written: {error}", path.display());
            tell!("  hint: choose a folder that can be written to with --output DIR; nothing is computed again");
        }
        RunError::Interrupted => tell!("interrupted; the same command continues where this one stopped"),
        RunError::Provider(why) => tell!("error: {why}"),
        RunError::Internal(why) => {
            tell!("error: {why}");
            tell!("  this is a fault of ragstage, not yours; nothing that was computed is lost");
        }
    }
}

fn print_inputs(errors: &[InputError]) {
    for error in errors.iter().take(MOST_SHOWN) {
        tell!("error: {error}");
        if let Some(hint) = &error.hint {
            tell!("  hint: {hint}");
        }
    }
    if errors.len() > MOST_SHOWN {
        tell!("... and {} more", errors.len() - MOST_SHOWN);
    }
}

fn store_hint(error: &StoreError) -> Option<&'static str> {
    Some(match &error.kind {
        StoreErrorKind::Full => {
            "free some space (`ragstage cache gc` says what no recent run uses); the same command then continues"
        }
        StoreErrorKind::ReadOnly => "choose a store that can be written to with --store DIR",
        StoreErrorKind::Newer { .. } => "use the newer ragstage, or another store with --store DIR",
        StoreErrorKind::InUse => "try again when no other ragstage uses the store",
        StoreErrorKind::Corrupt { .. } | StoreErrorKind::Missing { .. } => {
            "`ragstage run` computes it again; `ragstage cache verify` looks for more"
        }
        StoreErrorKind::Malformed(_) if error.operation == "open store" => {
            "if it is a ragstage store, restore that file; else choose another store with --store DIR"
        }
        StoreErrorKind::Malformed(_) if error.operation == "read salts" => {
            "restore that file, or delete it: steps that were forced are then as they were before that"
        }
        StoreErrorKind::Io(_) => {
            "if something else stands where that file or folder should be, move it away; --store DIR names another store"
        }
        _ => return None,
    })
}

fn model_hint(error: &FetchError) -> &'static str {
    match &error.kind {
        FetchErrorKind::Unknown(_) => {
            "`ragstage models list` names those that are known; another one is taken with --from DIR or --from URL"
        }
        FetchErrorKind::NotThere => "--from names a folder, or a URL, with the files of the model in it",
        FetchErrorKind::Mismatch { .. } => {
            "it is not the pinned file and was not kept; try again, or name another place that has it with --from DIR|URL"
        }
        FetchErrorKind::Connection(_) => {
            "what was downloaded is kept: the same command continues; without a network, --from DIR takes it from a folder"
        }
        FetchErrorKind::Status { status: 401 | 403, .. } => {
            "this place wants credentials; --from DIR|URL names another one"
        }
        FetchErrorKind::Status { .. } => "the same command tries again; --from DIR|URL names another place",
        FetchErrorKind::Changed { .. } | FetchErrorKind::Occupied | FetchErrorKind::Malformed(_) => {
            "nothing incomplete was put in place"
        }
        FetchErrorKind::Io(_) => "nothing incomplete was put in place; RAGSTAGE_MODELS names another folder for models",
    }
}

fn data_hint(error: &FetchError) -> &'static str {
    match &error.kind {
        FetchErrorKind::Unknown(_) => "`ragstage data list` names those that are known",
        FetchErrorKind::NotThere => "--mirror names another URL, folder or file that has it",
        FetchErrorKind::Mismatch { .. } => {
            "it is not the file that this version knows and was not kept; try again, or name a place that has it with --mirror"
        }
        FetchErrorKind::Changed { .. } => {
            "it was not kept; numbers on it are not comparable with those before. --force takes it and records it anew"
        }
        FetchErrorKind::Occupied => "--to names another folder; --force downloads it and replaces the folder",
        FetchErrorKind::Malformed(_) => {
            "nothing of it was put in place; if a download was damaged, the same command tries again"
        }
        FetchErrorKind::Connection(_) => {
            "what was downloaded is kept: the same command continues; without a network, --mirror takes files from this machine"
        }
        FetchErrorKind::Status { status: 401 | 403, .. } => "this place wants credentials; --mirror names another one",
        FetchErrorKind::Status { .. } => "the same command tries again; --mirror names another place",
        FetchErrorKind::Io(_) => "nothing incomplete was put in place; --to names another folder",
    }
}
