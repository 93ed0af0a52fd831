//! Files from the network or from elsewhere on this machine, for models and datasets: continued where an attempt stopped, and
//! put in place whole or not at all.

mod agent;
mod fetch_error;
mod files;
mod notice;
mod origin;
mod transfer;

pub use fetch_error::{FetchError, FetchErrorKind};
pub use notice::Notice;

pub(crate) use agent::agent;
pub(crate) use files::{copy, holds_bytes, lock, remove_file, remove_folder, replace_folder, sha256, with_suffix};
pub(crate) use origin::is_url;
pub(crate) use transfer::Transfer;
