//! The result files of OpenViking's benchmark (spec/openviking 6.5): their keys and types, and under `ragstage` what they lack.

mod documents;
mod evaluated;
mod generated_answers;
mod json_file;
mod log_sink;
mod metrics_report;
mod run_artifacts;

pub use documents::write_documents;
pub use evaluated::{CaseScores, Evaluated, evaluated};
pub use generated_answers::{Generated, GeneratedFile, QueryAverages};
pub use json_file::{read_json, write_json};
pub use log_sink::LogSink;
pub use metrics_report::{deletion_section, insertion_section, merge_report, query_section};
pub use run_artifacts::RunArtifacts;
