//! Numbers that tell two processes' files apart.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// 32 bits that another process or thread is unlikely to draw; never part of a key or an artifact.
pub(crate) fn nonce() -> u32 {
    // std seeds each RandomState from the operating system and tells them apart within a process.
    (RandomState::new().hash_one(std::process::id()) >> 32) as u32
}

/// Milliseconds since 1970; 0 for a clock that is set before it.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
