//! OpenViking's RAG benchmark (spec/openviking): its run configurations as evaluations, and its result files.

mod error;
mod evaluation_text;
mod files;
mod output_place;
mod server_place;

pub use error::OpenVikingError;
pub use evaluation_text::{EvaluationText, LITERAL_LLM_KEY, evaluation_text};
pub use files::{
    CaseScores, Evaluated, Generated, GeneratedFile, LogSink, QueryAverages, RunArtifacts, deletion_section, evaluated,
    insertion_section, merge_report, query_section, read_json, write_documents, write_json,
};
pub use output_place::OutputPlace;
pub use server_place::{SERVER_KEY, ServerPlace, find_server};
