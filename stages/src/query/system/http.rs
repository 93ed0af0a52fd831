//! A system under test behind a URL.

use std::time::Duration;

use super::protocol::{Reply, Request};
use crate::error::RowError;
use crate::model::JsonClient;

/// Sends each query as a `POST` of JSON.
pub struct HttpClient {
    client: JsonClient,
}

impl HttpClient {
    /// A client for `url` that sends `headers` with every query; no reply may hold the value of one of `variables`.
    ///
    /// # Errors
    /// As [`JsonClient::new`].
    pub fn new(url: &str, headers: &[(String, String)], variables: &[(String, String)]) -> Result<Self, String> {
        Ok(HttpClient { client: JsonClient::new("the system", url, headers, variables)? })
    }

    /// Asks once.
    ///
    /// # Errors
    /// As [`JsonClient::post`], and `bad_reply` or `refused` where the reply is none of the protocol's.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let reply = self.client.post(&request.to_bytes()?, timeout)?;
        Reply::of(reply, request.top_k).map_err(|error| self.client.masked(error))
    }
}
