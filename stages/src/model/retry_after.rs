//! How long a server asks to wait.

use std::time::SystemTime;

use ureq::http::HeaderMap;

/// Seconds that `Retry-After` asks to wait from `now` on; it is a number of seconds or a date (RFC 9110, 10.2.3).
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let value = headers.get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let wait = date.duration_since(now).unwrap_or_default();
    Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_770_500);
        let wait = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", value.parse().expect("value"));
            retry_after(&headers, now)
        };
        assert_eq!(wait(" 7 "), Some(7));
        // 784111777 s after the epoch.
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(7));
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
