//! What happens while files are brought here.

use super::fetch_error::FetchError;

/// What happens on the way.
#[derive(Debug)]
pub enum Notice<'a> {
    /// Another process brings the same; it is waited for.
    Waiting,
    /// A file is begun.
    File(&'a str),
    /// Its bytes arrive; so many are there already.
    Receiving {
        /// Bytes that are there.
        have: u64,
        /// Bytes of the whole file, where known.
        size: Option<u64>,
    },
    /// So many more bytes arrived.
    Bytes(u64),
    /// An attempt failed; there will be another.
    Retrying {
        /// Why.
        why: &'a FetchError,
        /// Seconds until then, where the server asked for them.
        after_s: Option<u64>,
    },
    /// An archive is unpacked.
    Unpacking(&'a str),
}
