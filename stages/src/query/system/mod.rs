//! Systems under test: somebody's own RAG service, reached over HTTP or as a command.

mod client;
mod command;
mod http;
mod mapping;
mod openviking;
mod operation;
mod probe;
pub mod protocol;

pub use client::Client;
pub use command::CommandClient;
pub use http::HttpClient;
pub use mapping::{Mapping, Placeholder, RequestTemplate, ResponseMapping};
pub use openviking::{
    Added, IngestMode, OpenVikingClient, OpenVikingOptions, OpenVikingPlace, OpenVikingSearch, OpenVikingSpec,
    ProcessingMode, server_version,
};
pub(crate) use openviking::{FileName, document_at, file_names};
pub use operation::{Ingested, IngestedDocument, Operation};
pub(super) use probe::Probe;
