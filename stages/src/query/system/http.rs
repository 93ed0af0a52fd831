//! A system under test behind a URL.

use std::time::Duration;

use serde_json::Value;

use super::mapping::Mapping;
use super::operation::Operation;
use super::protocol::{Reply, Request};
use crate::artifact::Json;
use crate::error::{RowError, RowErrorKind};
use crate::model::JsonClient;
use crate::model::json_reply::bad_reply;
use crate::query::options::HttpUrls;

/// Sends each request as a `POST` of JSON.
pub struct HttpClient {
    query: JsonClient,
    operations: Vec<(Operation, JsonClient)>,
    mapping: Mapping,
}

impl HttpClient {
    /// A client for `urls` that sends `headers` with every request; no reply may hold the value of one of `variables`.
    /// Queries and their replies are as `mapping` says.
    ///
    /// # Errors
    /// As [`JsonClient::new`].
    pub fn new(
        urls: &HttpUrls,
        headers: &[(String, String)],
        variables: &[(String, String)],
        mapping: &Mapping,
    ) -> Result<Self, String> {
        let client = |url: &str| JsonClient::new("the system", url, headers, variables);
        let operations = Operation::ALL
            .into_iter()
            .filter_map(|operation| Some((operation, urls.of(operation)?)))
            .map(|(operation, url)| Ok((operation, client(url)?)))
            .collect::<Result<_, String>>()?;
        Ok(HttpClient { query: client(&urls.query)?, operations, mapping: mapping.clone() })
    }

    /// Asks once.
    ///
    /// # Errors
    /// As [`JsonClient::post`], and `bad_reply` or `refused` where the reply is none of the protocol's, or not what the
    /// mapping says.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let body = match &self.mapping.request {
            None => request.to_bytes()?,
            Some(template) => json_bytes(&template.fill(request))?,
        };
        let reply = self.query.post(&body, timeout)?;
        let reply = match &self.mapping.response {
            None => Reply::of(reply, request.top_k),
            Some(mapping) => mapping.read(&reply, request.top_k),
        };
        reply.map_err(|error| self.query.masked(error))
    }

    /// Has an operation done.
    ///
    /// # Errors
    /// As [`JsonClient::post`], those of `read`, and `refused` where the system has no URL for it.
    pub(super) fn operate<T>(
        &self,
        operation: Operation,
        request: &Json,
        timeout: Duration,
        read: impl FnOnce(&Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        let Some((_, client)) = self.operations.iter().find(|(known, _)| *known == operation) else {
            return Err(RowError::new(
                RowErrorKind::Refused,
                format!("the system has no url for {}", operation.name()),
            ));
        };
        let reply = client.post(&json_bytes(request)?, timeout)?;
        read(&reply).map_err(|error| client.masked(error))
    }
}

fn json_bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, RowError> {
    serde_json::to_vec(value).map_err(|error| bad_reply(format!("the request is no JSON: {error}")))
}
