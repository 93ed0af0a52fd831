//! The time of day, as reports write it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in RFC 3339 with milliseconds, UTC.
pub fn now() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ragstage_cache::clock::rfc3339(elapsed.as_secs(), elapsed.subsec_millis())
}
