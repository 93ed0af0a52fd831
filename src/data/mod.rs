//! Public datasets: where they are from, how they get here, and parts of them. A run never fetches one.

mod fetch;
mod lock_file;
pub mod sample;
mod source;
mod sources;
mod unpack;

pub use fetch::{Downloaded, Mirror, Request, download};
pub use lock_file::{LOCK_FILE, LockFile, LockedFile};
pub use source::{Form, Member, Pin, Source, SourceFile};
pub use sources::SOURCES;
pub use unpack::{ArchiveFormat, Limits, unpack};
