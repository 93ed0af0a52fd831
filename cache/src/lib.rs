//! The store of ragstage: content-addressed blobs, an action cache, row caches, and the keys that address them.
//!
//! This crate knows bytes, digests and files. It knows nothing of benchmarks, queries or command lines.
//! The on-disk tree is documented at [`store::Store`]; what a key may hold is documented at [`key`].

#![warn(missing_docs)]

pub mod digest;
pub mod error;
pub mod key;
pub mod manifest;
pub mod table;

pub use digest::Digest;
pub use error::{StoreError, StoreErrorKind};
pub use key::{KeyHasher, KeyVisitor, Walk};
pub use manifest::Manifest;
