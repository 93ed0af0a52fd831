//! Where a model is served.

use std::fmt;

use super::json_client::JsonClient;

/// Where a model is served. Nothing of it is in a key but its label, and its headers' values are in no `Debug` text.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What tells this server's models from another's of the same name; in keys, since the URL is not.
    pub label: String,
    /// The URL up to and with `/v1`, without a slash at its end.
    pub base_url: String,
    /// Sent with every request; values may be secrets.
    pub headers: Vec<(String, String)>,
    /// The environment variables that the headers are made of: secrets that no reply may hold.
    pub variables: Vec<(String, String)>,
}

impl Endpoint {
    /// A client for `path` below the base URL, e.g. `chat/completions`. `whose` names the model in messages.
    ///
    /// # Errors
    /// As [`JsonClient::new`].
    pub fn client(&self, whose: &str, path: &str) -> Result<JsonClient, String> {
        let url = format!("{}/{path}", self.base_url.trim_end_matches('/'));
        JsonClient::new(whose, &url, &self.headers, &self.variables)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("label", &self.label)
            .field("base_url", &self.base_url)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}
