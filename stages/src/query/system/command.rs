//! A system under test that we start ourselves: long-lived processes that answer line by line.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::operation::Operation;
use super::protocol::{Reply, Request};
use crate::artifact::Json;
use crate::error::RowError;
use crate::model::json_reply::bad_reply;
use crate::process::{Launch, Pairing, Processes};

/// Keeps as many processes as there are calls at once; each serves one call at a time. All end with the client.
pub struct CommandClient {
    processes: Processes,
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
        let launch = Launch {
            command: command.to_vec(),
            directory: directory.to_path_buf(),
            environment: environment.to_vec(),
            variables: variables.to_vec(),
        };
        Ok(CommandClient { processes: Processes::new(launch, Pairing::ByIdOrOrder) })
    }

    /// Asks once, in a process that is idle or a new one. A process that was late, wrote what is no reply or ended is
    /// killed, for its next line could belong to an earlier query.
    ///
    /// # Errors
    /// `timeout`; `process` with the end of its standard error when it cannot be started or ends; `bad_reply`.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let body = |id| Request { id: Some(id), ..request.clone() }.to_bytes();
        self.processes.exchange(&body, timeout, |reply| Reply::of(reply, request.top_k))
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
        self.processes.exchange(&body, timeout, |reply| read(&reply))
    }

    /// Ends all processes: each is told that nothing more is asked, and those that do not repeat ids are given a moment
    /// to show that they have nothing more to say.
    ///
    /// # Errors
    /// When a process wrote more lines than it was asked for, so that its replies may belong to other queries.
    pub fn close(&self) -> Result<(), String> {
        self.processes.close().map_err(|why| {
            format!(
                "{why}; earlier replies of this process may belong to other queries, so none of this system's is kept: mend \
                 it, best so that it repeats the request's \"id\"; the same command then asks all again"
            )
        })
    }
}
