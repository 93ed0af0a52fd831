//! One way to ask, whichever the transport.

use std::time::Duration;

use serde_json::Value;

use super::command::CommandClient;
use super::http::HttpClient;
use super::operation::{Ingested, IngestedDocument, Operation, counted, done, handle_request, ingest_request};
use super::protocol::{Reply, Request};
use crate::artifact::Json;
use crate::error::RowError;
use crate::query::options::{SystemSpec, Transport};

/// A system under test that can be asked, by many threads at once.
pub enum Client {
    /// Over HTTP.
    Http(Box<HttpClient>),
    /// As processes of our own.
    Command(Box<CommandClient>),
}

impl Client {
    /// A client for `system`. Connections and processes are opened by the first call.
    ///
    /// # Errors
    /// When the URL, a header or the command cannot be used at all, as a lower-case fragment.
    pub fn new(system: &SystemSpec) -> Result<Self, String> {
        match &system.transport {
            Transport::Http { urls, headers, variables } => {
                let client = HttpClient::new(urls, headers, variables, &system.mapping)?;
                Ok(Client::Http(Box::new(client)))
            }
            Transport::Command { command, directory, environment, variables, operations: _ } => {
                CommandClient::new(command, directory, environment, variables)
                    .map(|client| Client::Command(Box::new(client)))
            }
        }
    }

    /// Asks once; trying again is the caller's business.
    ///
    /// # Errors
    /// When there is no reply within `timeout`, or none that the protocol allows. No message holds a header's or an
    /// environment variable's value.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        match self {
            Client::Http(client) => client.ask(request, timeout),
            Client::Command(client) => client.ask(request, timeout),
        }
    }

    /// Has documents taken in, once. `name` names the knowledge base where the system has no name of its own for it;
    /// `handle` is what the first batch of documents gave, for those that follow it.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn ingest(
        &self,
        name: &str,
        system: &SystemSpec,
        handle: Option<&str>,
        documents: &[IngestedDocument<'_>],
        timeout: Duration,
    ) -> Result<Ingested, RowError> {
        let request = ingest_request(name, (&system.name, &system.version), handle, documents);
        self.operate(Operation::Ingest, &request, timeout, Ingested::of)
    }

    /// Counts what is in a knowledge base, once.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn count(&self, handle: &str, timeout: Duration) -> Result<u64, RowError> {
        self.operate(Operation::Count, &handle_request(handle), timeout, counted)
    }

    /// Removes a knowledge base, once.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn delete(&self, handle: &str, timeout: Duration) -> Result<(), RowError> {
        self.operate(Operation::Delete, &handle_request(handle), timeout, done)
    }

    fn operate<T>(
        &self,
        operation: Operation,
        request: &Json,
        timeout: Duration,
        read: impl FnOnce(&Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        match self {
            Client::Http(client) => client.operate(operation, request, timeout, read),
            Client::Command(client) => client.operate(operation, request, timeout, read),
        }
    }

    /// Ends what was opened, after the last call.
    ///
    /// # Errors
    /// When replies turn out not to belong to their requests, as a lower-case fragment.
    pub fn close(&self) -> Result<(), String> {
        match self {
            Client::Http(_) => Ok(()),
            Client::Command(client) => client.close(),
        }
    }
}
