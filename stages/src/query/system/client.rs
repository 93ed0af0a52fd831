//! One way to ask, whichever the transport.

use std::time::Duration;

use super::command::CommandClient;
use super::http::HttpClient;
use super::openviking::{OpenVikingClient, file_names};
use super::operation::{Ingested, IngestedDocument, Operation, counted, done, handle_request, ingest_request};
use super::protocol::{Reply, Request};
use crate::error::RowError;
use crate::query::options::{SystemSpec, Transport};

/// A system under test that can be asked, by many threads at once.
pub enum Client {
    /// Over HTTP.
    Http(Box<HttpClient>),
    /// As processes of our own.
    Command(Box<CommandClient>),
    /// An OpenViking server.
    OpenViking(Box<OpenVikingClient>),
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
            Transport::OpenViking(place) => {
                OpenVikingClient::new(system, place).map(|client| Client::OpenViking(Box::new(client)))
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
            Client::OpenViking(client) => client.ask(request, timeout),
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
        let request = || ingest_request(name, (&system.name, &system.version), handle, documents);
        match self {
            Client::Http(client) => client.operate(Operation::Ingest, &request(), timeout, Ingested::of),
            Client::Command(client) => client.operate(Operation::Ingest, &request(), timeout, Ingested::of),
            Client::OpenViking(client) => {
                let root = client.place_of(name);
                client.add_folder(&root, documents, &file_names(documents), false, timeout)?;
                Ok(Ingested { handle: Some(root), count: None })
            }
        }
    }

    /// Counts what is in a knowledge base, once.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn count(&self, handle: &str, timeout: Duration) -> Result<u64, RowError> {
        match self {
            Client::Http(client) => client.operate(Operation::Count, &handle_request(handle), timeout, counted),
            Client::Command(client) => client.operate(Operation::Count, &handle_request(handle), timeout, counted),
            Client::OpenViking(client) => client.count(handle, timeout),
        }
    }

    /// Removes a knowledge base, once.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn delete(&self, handle: &str, timeout: Duration) -> Result<(), RowError> {
        match self {
            Client::Http(client) => client.operate(Operation::Delete, &handle_request(handle), timeout, done),
            Client::Command(client) => client.operate(Operation::Delete, &handle_request(handle), timeout, done),
            Client::OpenViking(client) => client.remove(handle, timeout),
        }
    }

    /// Ends what was opened, after the last call.
    ///
    /// # Errors
    /// When replies turn out not to belong to their requests, as a lower-case fragment.
    pub fn close(&self) -> Result<(), String> {
        match self {
            Client::Http(_) | Client::OpenViking(_) => Ok(()),
            Client::Command(client) => client.close(),
        }
    }
}
