//! The HTTP client of downloads.

use std::time::Duration;

use ureq::Agent;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// A client that follows redirects and takes its proxies from the environment, as curl does.
pub(crate) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(REPLY_TIMEOUT))
        .user_agent(concat!("ragstage/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}
