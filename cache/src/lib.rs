//! The store of ragstage: content-addressed blobs, an action cache, row caches, and the keys that address them.
//!
//! This crate knows bytes, digests and files. It knows nothing of benchmarks, queries or command lines.
//! The on-disk tree is documented at [`store::Store`]; what a key may hold is documented at [`key`].

#![warn(missing_docs)]

pub mod action;
pub mod atomic;
pub mod cas;
pub mod clock;
mod commit;
pub mod digest;
pub mod error;
pub mod gc;
pub mod incident;
pub mod journal;
pub mod key;
mod layout;
pub mod lock;
pub mod manifest;
pub mod memo;
mod nonce;
mod row;
pub mod rows;
pub mod runs;
pub mod salt;
mod scratch;
pub mod segment;
mod slot;
pub mod store;
pub mod table;
pub mod table_file;
pub mod table_stream;
pub mod usage;
pub mod verify;

pub use digest::Digest;
pub use error::{StoreError, StoreErrorKind};
pub use incident::Incident;
pub use key::{KeyHasher, KeyVisitor, Walk};
pub use manifest::Manifest;
pub use store::Store;
