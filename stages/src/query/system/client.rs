//! One way to ask, whichever the transport.

use std::time::Duration;

use super::command::CommandClient;
use super::http::HttpClient;
use super::protocol::{Reply, Request};
use crate::error::RowError;
use crate::query::options::Transport;

/// A system under test that can be asked, by many threads at once.
pub enum Client {
    /// Over HTTP.
    Http(HttpClient),
    /// As processes of our own.
    Command(CommandClient),
}

impl Client {
    /// A client for `transport`. Connections and processes are opened by the first call.
    ///
    /// # Errors
    /// When the URL, a header or the command cannot be used at all, as a lower-case fragment.
    pub fn new(transport: &Transport) -> Result<Self, String> {
        match transport {
            Transport::Http { url, headers, variables } => HttpClient::new(url, headers, variables).map(Client::Http),
            Transport::Command { command, directory, environment, variables } => {
                CommandClient::new(command, directory, environment, variables).map(Client::Command)
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
