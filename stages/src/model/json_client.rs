//! JSON over HTTP: one object up, one down.

use std::io::Read;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use ureq::{Agent, Timeout};

use super::json_reply::{excerpt, json, kind_of};
use super::retry_after::retry_after;
use super::secrets::Secrets;
use crate::error::{RowError, RowErrorKind};

/// A longer reply is refused, so that a system that never stops costs no memory.
const LONGEST_REPLY: u64 = 64 << 20;
/// How much of the body of an error response is read.
const LONGEST_ERROR: u64 = 64 << 10;
/// Connections that are kept open; more calls at once open their own.
const KEPT_CONNECTIONS: usize = 64;

/// A request of any kind to a path below a client's URL.
pub(crate) struct Exchange<'a> {
    /// What is to be done.
    pub(crate) method: Method,
    /// Path and query, put after the client's URL.
    pub(crate) path: &'a str,
    /// Media type and bytes of what is sent; nothing with `GET` and `DELETE`.
    pub(crate) body: Option<(&'a str, &'a [u8])>,
}

/// How long the parts of an exchange may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Until there is a connection.
    pub(crate) connect: Duration,
    /// Until the reply begins, once all is sent, and then until it ends.
    pub(crate) read: Duration,
    /// All together.
    pub(crate) whole: Duration,
}

/// A reply of any status.
pub(crate) struct Exchanged {
    /// Method and URL, without its query: for messages.
    pub(crate) place: String,
    /// The HTTP status.
    pub(crate) status: u16,
    /// Seconds that `Retry-After` asks to wait.
    pub(crate) retry_after_s: Option<u64>,
    /// The body.
    pub(crate) bytes: Vec<u8>,
}

/// Sends JSON as a `POST` to one URL. Redirects are not followed: a `POST` would arrive as something else.
pub struct JsonClient {
    agent: Agent,
    url: Uri,
    headers: HeaderMap,
    secrets: Secrets,
}

impl JsonClient {
    /// A client for `url` that sends `headers` with every request; no reply may hold the value of one of `variables`.
    /// Proxies are taken from the environment, as curl does. `whose` says in messages whose URL it is: `the system`.
    ///
    /// # Errors
    /// When the URL is not `http(s)://host...`, holds a password, or a header cannot be sent. The message holds no header value.
    pub fn new(
        whose: &str,
        url: &str,
        headers: &[(String, String)],
        variables: &[(String, String)],
    ) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{whose}'s url cannot be used: {error}"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
            return Err(format!("{whose}'s url cannot be used: expected http://host... or https://host..."));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(format!(
                "{whose}'s url cannot be used: expected credentials in a header, found them in the url"
            ));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let refused = |what: &str| format!("header {name:?} of {whose} cannot be sent: its {what} is not allowed");
            let key: HeaderName = name.parse().map_err(|_| refused("name"))?;
            let value: HeaderValue = value.parse().map_err(|_| refused("value"))?;
            map.append(key, value);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(KEPT_CONNECTIONS)
            .max_idle_connections_per_host(KEPT_CONNECTIONS)
            .user_agent(concat!("ragstage/", env!("CARGO_PKG_VERSION")))
            .build();
        let parameters = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let mut secret: Vec<(String, String)> = headers.to_vec();
        secret.extend(parameters.map(|(name, value)| (name.to_string(), value.to_string())));
        Ok(JsonClient { agent: config.new_agent(), url: uri, headers: map, secrets: Secrets::of(&secret, variables) })
    }

    /// Sends `body` once and reads the reply. `timeout` covers everything from the look-up of the host to the last byte of
    /// the reply.
    ///
    /// # Errors
    /// By status: 408 and 5xx `server`, 429 `rate_limited`, 401 and 403 `auth`, other but 2xx `refused`. By transport:
    /// `timeout`, `connection`. Of the reply: `bad_reply`, where it is no JSON or holds a secret.
    pub fn post(&self, body: &[u8], timeout: Duration) -> Result<Value, RowError> {
        let reply = self.post_for_bytes(body, timeout)?;
        let reply = json(&reply).map_err(|error| self.masked(error))?;
        self.refuse_secrets(&reply)?;
        Ok(reply)
    }

    /// As [`JsonClient::post`], for replies of which not everything is kept, or that are paid for though they are bad: they
    /// are neither read nor searched for secrets. What is said of them must be [`JsonClient::masked`].
    pub(crate) fn post_for_bytes(&self, body: &[u8], timeout: Duration) -> Result<Vec<u8>, RowError> {
        self.post_unmasked(body, timeout).map_err(|error| self.masked(error))
    }

    /// Refuses a reply that would carry a secret into the store.
    pub(crate) fn refuse_secrets(&self, reply: &Value) -> Result<(), RowError> {
        self.secrets.refuse_in(reply).map_err(|error| self.masked(error))
    }

    /// `error` without a secret in its message.
    pub(crate) fn masked(&self, mut error: RowError) -> RowError {
        error.message = self.secrets.masked(&error.message);
        error
    }

    /// Sends a request of any kind once. A status that is no success is no error here: whoever asked knows what it means.
    ///
    /// # Errors
    /// `timeout`, `connection`; `bad_reply` where the reply is no HTTP or too long; `refused` where no request can be made.
    pub(crate) fn exchange(&self, exchange: &Exchange<'_>, patience: Patience) -> Result<Exchanged, RowError> {
        self.exchange_unmasked(exchange, patience).map_err(|error| self.masked(error))
    }

    fn exchange_unmasked(&self, exchange: &Exchange<'_>, patience: Patience) -> Result<Exchanged, RowError> {
        let base = self.place();
        let url = format!("{}{}", base.trim_end_matches('/'), exchange.path);
        let place = format!("{} {}", exchange.method, url.split('?').next().unwrap_or_default());
        let unusable = |why: &dyn std::fmt::Display| {
            RowError::new(RowErrorKind::Refused, format!("no request can be made to {place}: {why}"))
        };
        let uri: Uri = url.parse().map_err(|error| unusable(&error))?;
        let mut request = Request::builder().method(exchange.method.clone()).uri(uri);
        if let Some(headers) = request.headers_mut() {
            headers.insert("accept", HeaderValue::from_static("application/json"));
            if let Some((media_type, _)) = exchange.body {
                headers.insert("content-type", media_type.parse().map_err(|error| unusable(&error))?);
            }
            for (name, value) in &self.headers {
                headers.insert(name.clone(), value.clone());
            }
        }
        let sent = match exchange.body {
            Some((_, bytes)) => {
                let request = request.body(bytes).map_err(|error| unusable(&error))?;
                self.agent.run(self.patient(request, patience))
            }
            None => {
                let request = request.body(()).map_err(|error| unusable(&error))?;
                self.agent.run(self.patient(request, patience))
            }
        };
        let limit_of = |error: &ureq::Error| match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => patience.connect,
            ureq::Error::Timeout(Timeout::RecvResponse | Timeout::RecvBody) => patience.read,
            _ => patience.whole,
        };
        let transport = |error: ureq::Error| {
            let limit = limit_of(&error);
            transport(&place, error, limit)
        };
        let mut response = sent.map_err(transport)?;
        let status = response.status().as_u16();
        let retry_after_s = retry_after(response.headers(), SystemTime::now());
        let bytes = response.body_mut().with_config().limit(LONGEST_REPLY).read_to_vec().map_err(transport)?;
        Ok(Exchanged { place, status, retry_after_s, bytes })
    }

    fn patient<B: ureq::AsSendBody>(&self, request: Request<B>, patience: Patience) -> Request<B> {
        let configured = self.agent.configure_request(request);
        let configured = configured.timeout_global(Some(patience.whole)).timeout_connect(Some(patience.connect));
        configured.timeout_recv_response(Some(patience.read)).timeout_recv_body(Some(patience.read)).build()
    }

    fn post_unmasked(&self, body: &[u8], timeout: Duration) -> Result<Vec<u8>, RowError> {
        let mut post = self.agent.post(self.url.clone()).config().timeout_global(Some(timeout)).build();
        if let Some(headers) = post.headers_mut() {
            headers.insert("accept", HeaderValue::from_static("application/json"));
            headers.insert("content-type", HeaderValue::from_static("application/json"));
            for name in self.headers.keys() {
                headers.remove(name);
            }
            headers.extend(self.headers.clone());
        }
        let mut response = post.send(body).map_err(|error| transport(&self.place(), error, timeout))?;
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers(), SystemTime::now());
            let mut body = Vec::new();
            // What was read before the connection broke or the limit was reached still says what is wrong.
            let _ = response.body_mut().as_reader().take(LONGEST_ERROR).read_to_end(&mut body);
            let body = String::from_utf8_lossy(&body);
            let kind = kind_of(u64::from(status.as_u16()));
            let mut error = RowError::new(kind, format!("{} replied {status}: {}", self.place(), excerpt(&body)));
            error.retry_after_s = wait;
            return Err(error);
        }
        let bytes = response.body_mut().with_config().limit(LONGEST_REPLY).read_to_vec();
        bytes.map_err(|error| transport(&self.place(), error, timeout))
    }

    /// The URL without its query, which may hold a key.
    fn place(&self) -> String {
        let host = self.url.host().unwrap_or_default();
        let port = self.url.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{host}{port}{}", self.url.scheme_str().unwrap_or_default(), self.url.path())
    }
}

fn transport(place: &str, error: ureq::Error, timeout: Duration) -> RowError {
    match error {
        ureq::Error::Timeout(_) => late(place, timeout),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => late(place, timeout),
        ureq::Error::BodyExceedsLimit(limit) => {
            RowError::new(RowErrorKind::BadReply, format!("{place} replied with more than {limit} bytes"))
        }
        ureq::Error::Decompress(_, error) => {
            RowError::new(RowErrorKind::BadReply, format!("the reply of {place} cannot be decompressed: {error}"))
        }
        ureq::Error::Protocol(error) => {
            RowError::new(RowErrorKind::BadReply, format!("the reply of {place} is not HTTP: {error}"))
        }
        ureq::Error::Http(_) | ureq::Error::BadUri(_) | ureq::Error::InvalidProxyUrl => {
            RowError::new(RowErrorKind::Refused, format!("no request can be made to {place}"))
        }
        other => RowError::new(RowErrorKind::Connection, format!("no connection with {place}: {other}")),
    }
}

fn late(place: &str, timeout: Duration) -> RowError {
    RowError::new(RowErrorKind::Timeout, format!("no reply of {place} within {} s", timeout.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_refused_without_its_value() {
        let header = |name: &str, value: &str| [(name.to_string(), value.to_string())];
        let error = |url: &str, headers: &[(String, String)]| {
            JsonClient::new("the system", url, headers, &[]).err().expect("refused")
        };
        assert!(error("ftp://host/", &[]).contains("expected http://"));
        assert!(error("harbour", &[]).contains("cannot be used"));
        let message = error("http://user:hidden@host/", &[]);
        assert!(message.contains("in a header") && !message.contains("hidden"), "{message}");
        let message = error("http://host/", &header("Authorization", "secret\nvalue"));
        assert!(message.contains("Authorization") && !message.contains("secret"), "{message}");
        assert!(error("http://host/", &header("a b", "secret")).contains("its name is not allowed"));
    }

    #[test]
    fn places_hold_no_secrets() {
        let client = JsonClient::new("the system", "http://host:8000/query?key=abc", &[], &[]).expect("client");
        assert_eq!(client.place(), "http://host:8000/query");
    }
}
