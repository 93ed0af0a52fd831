//! A system under test that we start ourselves: long-lived processes that answer line by line.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::operation::Operation;
use super::process::Process;
use super::protocol::{Reply, Request};
use crate::artifact::Json;
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::bad_reply;
use crate::model::secrets::Secrets;

/// How long processes may take to end after the end of their input, where only that proves their replies.
const FAREWELL: Duration = Duration::from_secs(2);

/// Keeps as many processes as there are calls at once; each serves one call at a time. All end with the client.
pub struct CommandClient {
    command: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    secrets: Secrets,
    idle: Mutex<Vec<Process>>,
    /// Why replies of this client may belong to other queries.
    doubt: Mutex<Option<String>>,
}

impl CommandClient {
    /// A client that starts `command` in `directory`, with `environment` added to ours; no reply may hold the value of one of
    /// `variables`.
    ///
    /// # Errors
    /// When the command is empty.
    pub fn new(
        command: &[String],
        directory: &Path,
        environment: &[(String, String)],
        variables: &[(String, String)],
    ) -> Result<Self, String> {
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err("the system's command is empty: expected a program and its arguments".to_string());
        }
        Ok(CommandClient {
            command: command.to_vec(),
            directory: directory.to_path_buf(),
            environment: environment.to_vec(),
            secrets: Secrets::of(environment, variables),
            idle: Mutex::new(Vec::new()),
            doubt: Mutex::new(None),
        })
    }

    /// Asks once, in a process that is idle or a new one. A process that was late, wrote what is no reply or ended is
    /// killed, for its next line could belong to an earlier query.
    ///
    /// # Errors
    /// `timeout`; `process` with the end of its standard error when it cannot be started or ends; `bad_reply`.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let body = |id| Request { id: Some(id), ..request.clone() }.to_bytes();
        self.exchange(&body, timeout, |reply| Reply::of(reply, request.top_k))
    }

    /// Has an operation done, as [`CommandClient::ask`] asks; the request gets its name as `op`.
    ///
    /// # Errors
    /// As [`CommandClient::ask`], and those of `read`.
    pub(super) fn operate<T>(
        &self,
        operation: Operation,
        request: &Json,
        timeout: Duration,
        read: impl FnOnce(&Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        let body = |id: u64| {
            let mut fields =
                Json::from_iter([("op".to_string(), operation.name().into()), ("id".to_string(), id.into())]);
            fields.extend(request.clone());
            serde_json::to_vec(&fields).map_err(|error| bad_reply(format!("the request is no JSON: {error}")))
        };
        self.exchange(&body, timeout, |reply| read(&reply))
    }

    fn exchange<T>(
        &self,
        body: &dyn Fn(u64) -> Result<Vec<u8>, RowError>,
        timeout: Duration,
        read: impl FnOnce(Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        self.exchange_unmasked(body, timeout, read).map_err(|mut error| {
            error.message = self.secrets.masked(&error.message);
            error
        })
    }

    /// Ends all processes: each is told that nothing more is asked, and those that do not repeat ids are given a moment
    /// to show that they have nothing more to say.
    ///
    /// # Errors
    /// When a process wrote more lines than it was asked for, so that its replies may belong to other queries.
    pub fn close(&self) -> Result<(), String> {
        let mut processes = std::mem::take(&mut *locked(&self.idle));
        processes.iter_mut().for_each(Process::close_input);
        let start = Instant::now();
        for mut process in processes.into_iter().filter(Process::is_unproved) {
            process.prove(FAREWELL.saturating_sub(start.elapsed()));
            self.doubt_as(&process);
        }
        match &*locked(&self.doubt) {
            None => Ok(()),
            Some(why) => Err(self.secrets.masked(&format!(
                "{why}; earlier replies of this process may belong to other queries, so none of this system's is kept: mend \
                 it, best so that it repeats the request's \"id\"; the same command then asks all again"
            ))),
        }
    }

    fn exchange_unmasked<T>(
        &self,
        body: &dyn Fn(u64) -> Result<Vec<u8>, RowError>,
        timeout: Duration,
        read: impl FnOnce(Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        if let Some(why) = &*locked(&self.doubt) {
            return Err(bad_reply(format!("not asked, for earlier replies are in doubt: {why}")));
        }
        let mut process = match self.waiting() {
            Some(process) => process,
            None => Process::start(&self.command, &self.directory, &self.environment)?,
        };
        let asked = process.ask(body, timeout);
        self.doubt_as(&process);
        let reply = asked?;
        let reply = self.secrets.refuse_in(&reply).and_then(|()| read(reply));
        if !matches!(&reply, Err(error) if error.kind == RowErrorKind::BadReply) {
            locked(&self.idle).push(process);
        }
        reply
    }

    /// An idle process. One that ended since its last reply is replaced: that is not the fault of the next query.
    fn waiting(&self) -> Option<Process> {
        loop {
            let mut process = locked(&self.idle).pop()?;
            if process.is_running() {
                return Some(process);
            }
            process.prove(FAREWELL);
            self.doubt_as(&process);
        }
    }

    fn doubt_as(&self, process: &Process) {
        if let Some(why) = process.doubt() {
            locked(&self.doubt).get_or_insert_with(|| why.to_string());
        }
    }
}

/// A thread that panicked while holding one of these cannot have left it half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
