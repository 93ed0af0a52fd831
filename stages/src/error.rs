//! What can go wrong in a stage, and what can go wrong with one row.

use std::fmt;
use std::path::PathBuf;

use ragstage_cache::table::TableError;
use ragstage_cache::{Digest, StoreError};
use serde::{Deserialize, Serialize};

use crate::step::Step;

/// A place in a file that a person can open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<u64>,
}

impl Place {
    /// The whole of `file`.
    pub fn file(file: impl Into<PathBuf>) -> Self {
        Place { file: file.into(), line: None, column: None }
    }

    /// Line `line` (from 1) of `file`.
    pub fn line(file: impl Into<PathBuf>, line: u64) -> Self {
        Place { file: file.into(), line: Some(line), column: None }
    }

    /// Column `column` (from 1, in characters) of line `line` of `file`.
    pub fn at(file: impl Into<PathBuf>, line: u64, column: u64) -> Self {
        Place { file: file.into(), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// An input that is missing or malformed. Exit code 3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputError {
    /// Where.
    pub place: Place,
    /// What is wrong, as a lower-case fragment: what was expected and what was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl InputError {
    /// The most characters of a message: what a file holds in one cell may be longer than anybody reads.
    const MOST: usize = 2000;

    /// An input error without a hint. Of a very long message its beginning.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(Self::MOST) {
            message.truncate(end);
            message.push('…');
        }
        InputError { place, message, hint: None }
    }

    /// The same error with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A stage that could not give its outputs.
#[derive(Debug)]
pub struct StageError {
    /// The step.
    pub step: Step,
    /// Why.
    pub kind: StageErrorKind,
}

/// Why a stage could not give its outputs.
#[derive(Debug)]
#[non_exhaustive]
pub enum StageErrorKind {
    /// Inputs that are missing or malformed; all that were found, not the first only.
    Input(Vec<InputError>),
    /// The store failed.
    Store(StoreError),
    /// An artifact that is not what its schema promises.
    Artifact {
        /// The artifact.
        digest: Digest,
        /// What is wrong with it.
        why: String,
    },
    /// An artifact that could not be written; a fault of ours.
    Encode(String),
    /// The run was interrupted.
    Cancelled,
    /// Rows that would have to be asked of a system under test, in a run that asks nothing.
    Unasked(usize),
    /// A provider whose replies, those that were kept too, may belong to other queries: the rows of the slots that the
    /// action used are no longer to be trusted. Exit code 20.
    Doubt(String),
    /// The knowledge base within a system under test that an earlier action made is not what it was: whoever made it has to
    /// make it again.
    StaleHandle {
        /// The artifact that says where it is.
        handle: Digest,
        /// What was found when it was looked at.
        why: String,
    },
    /// A provider that could not be used at all (auth, quota, unreachable). Exit code 20.
    Provider(String),
}

impl StageError {
    /// An input error of `step`.
    pub fn input(step: Step, errors: Vec<InputError>) -> Self {
        StageError { step, kind: StageErrorKind::Input(errors) }
    }

    /// A store error met in `step`.
    pub fn store(step: Step, error: StoreError) -> Self {
        StageError { step, kind: StageErrorKind::Store(error) }
    }

    /// The artifact `digest`, which is not what it should be.
    pub fn artifact(step: Step, digest: &Digest, why: impl fmt::Display) -> Self {
        StageError { step, kind: StageErrorKind::Artifact { digest: *digest, why: why.to_string() } }
    }

    /// A table of ours that could not be written.
    pub fn encode(step: Step, error: impl fmt::Display) -> Self {
        StageError { step, kind: StageErrorKind::Encode(error.to_string()) }
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.step)?;
        match &self.kind {
            StageErrorKind::Input(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            StageErrorKind::Store(error) => write!(f, "{error}"),
            StageErrorKind::Artifact { digest, why } => write!(f, "artifact {}: {why}", digest.short()),
            StageErrorKind::Encode(why) => write!(f, "cannot write an artifact: {why}"),
            StageErrorKind::Cancelled => f.write_str("interrupted"),
            StageErrorKind::Unasked(rows) => write!(f, "{rows} rows are not cached and may not be asked for"),
            StageErrorKind::StaleHandle { why, .. } => write!(f, "the system's knowledge base is not there: {why}"),
            StageErrorKind::Provider(why) | StageErrorKind::Doubt(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StageError {}

/// Why an artifact could not be decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not the table it should be.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Not the JSON it should be.
    #[error("json: {0}")]
    Json(#[from] serde_json::Error),
    /// Breaks a rule of its format.
    #[error("{0}")]
    Format(String),
}

/// A row that could not be computed: reported, never cached, tried again by the next run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowError {
    /// The class of fault, as reports name it.
    pub kind: RowErrorKind,
    /// What happened, with the other side's own words.
    pub message: String,
    /// How many times it was tried.
    pub attempts: u32,
    /// Seconds that the other side asked to wait (`Retry-After`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

/// The classes of fault of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RowErrorKind {
    /// No connection, or it was cut.
    Connection,
    /// No reply in time.
    Timeout,
    /// 429.
    RateLimited,
    /// 5xx or 408.
    Server,
    /// 401 or 403.
    Auth,
    /// Another 4xx.
    Refused,
    /// A reply that is not what the protocol promises.
    BadReply,
    /// An external process that ended or could not be started.
    Process,
    /// A document that no parser reads; it never will be read from the same bytes.
    Document,
    /// A document whose file is not there any more, or cannot be read now.
    Source,
    /// The pool's breaker is open: its last calls all failed.
    BreakerOpen,
    /// The row this one depends on failed.
    Upstream,
    /// There is no response, and that is no failure.
    Absent,
    /// An evaluator that failed on this case.
    Evaluator,
    /// The run was interrupted before this row.
    Interrupted,
    /// The budget does not hold what the row may cost.
    #[serde(rename = "over_budget")]
    Budget,
}

impl RowErrorKind {
    /// Whether another attempt may help (DESIGN section 5).
    pub fn retryable(self) -> bool {
        matches!(
            self,
            RowErrorKind::Connection | RowErrorKind::Timeout | RowErrorKind::RateLimited | RowErrorKind::Server
        )
    }

    /// Whether the fault lies in what was asked or how it was answered, so that asking for less at once may help.
    pub fn of_the_request(self) -> bool {
        matches!(self, RowErrorKind::Refused | RowErrorKind::BadReply)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            RowErrorKind::Connection => "connection",
            RowErrorKind::Timeout => "timeout",
            RowErrorKind::RateLimited => "rate_limited",
            RowErrorKind::Server => "server",
            RowErrorKind::Auth => "auth",
            RowErrorKind::Refused => "refused",
            RowErrorKind::BadReply => "bad_reply",
            RowErrorKind::Process => "process",
            RowErrorKind::Document => "document",
            RowErrorKind::Source => "source",
            RowErrorKind::BreakerOpen => "breaker_open",
            RowErrorKind::Upstream => "upstream",
            RowErrorKind::Absent => "absent",
            RowErrorKind::Evaluator => "evaluator",
            RowErrorKind::Interrupted => "interrupted",
            RowErrorKind::Budget => "over_budget",
        }
    }
}

impl RowError {
    /// Whether something went wrong, rather than there being no response and nothing to blame.
    pub fn is_failure(&self) -> bool {
        self.kind != RowErrorKind::Absent
    }

    /// A fault met on the first attempt.
    pub fn new(kind: RowErrorKind, message: impl Into<String>) -> Self {
        RowError { kind, message: message.into(), attempts: 1, retry_after_s: None }
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_very_long_message_the_beginning_is_told() {
        let place = || Place::file(std::path::Path::new("a.csv"));
        let long = InputError::new(place(), "é".repeat(200_000)).hint("shorten it");
        assert_eq!((long.message.chars().count(), long.message.ends_with("é…")), (2001, true));
        assert_eq!(InputError::new(place(), "é".repeat(2000)).message.chars().count(), 2000);
    }
}
