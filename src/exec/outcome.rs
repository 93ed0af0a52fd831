//! How a run can fail as a whole.

use std::fmt;
use std::io;
use std::path::PathBuf;

use ragstage_cache::StoreError;
use ragstage_stages::error::InputError;

use crate::graph::GraphError;
use crate::stale::StaleReason;

/// A run that could not do what it was asked for. A failing row is none of these: it is in the report.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// Inputs are missing or malformed.
    Input(Vec<InputError>),
    /// The store failed.
    Store(StoreError),
    /// Stages that may not run here (`score` never queries) would have to.
    NotAllowed(Vec<NotAllowed>),
    /// A report file could not be written.
    Publish {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A provider could not be used at all.
    Provider(String),
    /// The run was interrupted.
    Interrupted,
    /// A fault of ours.
    Internal(String),
}

/// An action that would have to run where it may not.
#[derive(Debug, Clone)]
pub struct NotAllowed {
    /// The action.
    pub label: String,
    /// Why it would have to run.
    pub reasons: Vec<StaleReason>,
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        RunError::Store(error)
    }
}

impl From<GraphError> for RunError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Input(errors) => RunError::Input(errors),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Input(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
            RunError::Store(error) => write!(f, "{error}"),
            RunError::NotAllowed(actions) => {
                for (i, action) in actions.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { "\n" }, action.label)?;
                }
                Ok(())
            }
            RunError::Publish { path, error } => write!(f, "write report {}: {error}", path.display()),
            RunError::Provider(why) | RunError::Internal(why) => f.write_str(why),
            RunError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for RunError {}
