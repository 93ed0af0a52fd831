//! An OpenViking server as a system under test, over its own HTTP API (`docs/openviking.md`).
//!
//! Documents are put below a place of their own, `<target>/ragstage-<digest>`, so that what is removed later is what was put
//! there, whatever else the server keeps.

mod api;
mod archive;
mod envelope;
mod file_names;
mod options;
mod server;
mod telemetry;

pub(crate) use file_names::{FileName, document_at, file_names};
pub use options::{IngestMode, OpenVikingOptions, OpenVikingPlace, OpenVikingSearch, OpenVikingSpec, ProcessingMode};
pub use server::{Added, OpenVikingClient, server_version};
