//! A scorer that needs no store and no evaluation file: measures of run files, and evaluators of response files.

mod blocks;
mod case_scores;
mod decimal;
mod faults;
mod judged_queries;
mod piece;
mod query_scorer;
mod read_file;
mod rows;
mod run_blocks;
mod run_file;
mod run_parquet;
mod run_scores;
mod run_text;
mod whole_run;
mod words;

pub use case_scores::{CaseScores, EvaluatorSummary, MissingCases};
pub use judged_queries::JudgedQueries;
pub use read_file::read as read_bytes;
pub use run_file::RunFile;
pub use run_scores::RunScores;
