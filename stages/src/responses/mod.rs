//! Response sets made elsewhere: what a file of responses says, whatever its format.

mod format;
mod heta_report;
mod json_place;
mod jsonl;
mod openviking_answers;
mod parquet;
mod response;
mod response_set;
mod trec_run;

pub use format::{RESPONSE_FORMATS, ResponseFormat};
pub use jsonl::{read_line, write_line};
pub use parquet::write_parquet;
pub use response::{Response, Whose};
pub use response_set::{Pick, ResponseSet};
