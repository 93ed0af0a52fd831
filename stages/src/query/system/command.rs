//! A system under test that we start ourselves: long-lived processes that answer line by line.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::process::Process;
use super::protocol::{Reply, Request};
use super::secrets::Secrets;
use crate::error::{RowError, RowErrorKind};

/// Keeps as many processes as there are calls at once; each serves one call at a time. All end with the client.
pub struct CommandClient {
    command: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    secrets: Secrets,
    idle: Mutex<Vec<Process>>,
}

impl CommandClient {
    /// A client that starts `command` in `directory`, with `environment` added to ours.
    ///
    /// # Errors
    /// When the command is empty.
    pub fn new(command: &[String], directory: &Path, environment: &[(String, String)]) -> Result<Self, String> {
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err("the system's command is empty: expected a program and its arguments".to_string());
        }
        Ok(CommandClient {
            command: command.to_vec(),
            directory: directory.to_path_buf(),
            environment: environment.to_vec(),
            secrets: Secrets::of(environment),
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Asks once, in a process that is idle or a new one. A process that was late, wrote what is no reply or ended is
    /// killed, for its next line could belong to an earlier query.
    ///
    /// # Errors
    /// `timeout`; `process` with the end of its standard error when it cannot be started or ends; `bad_reply`.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        self.ask_unmasked(request, timeout).map_err(|mut error| {
            error.message = self.secrets.masked(&error.message);
            error
        })
    }

    fn ask_unmasked(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let mut line = request.to_bytes()?;
        line.push(b'\n');
        let mut process = match self.waiting() {
            Some(process) => process,
            None => Process::start(&self.command, &self.directory, &self.environment)?,
        };
        let reply = Reply::parse(&process.ask(line, timeout)?, request.top_k);
        if !matches!(&reply, Err(error) if error.kind == RowErrorKind::BadReply) {
            self.idle().push(process);
        }
        reply
    }

    /// An idle process. One that ended since its last reply is replaced: that is not the fault of the next query.
    fn waiting(&self) -> Option<Process> {
        loop {
            let mut process = self.idle().pop()?;
            if process.is_running() {
                return Some(process);
            }
        }
    }

    /// The idle processes; a thread that panicked while holding them cannot have left them half changed.
    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
