//! Response sets made elsewhere: what a file of responses says, whatever its format.

mod format;
mod heta_report;
mod json_place;
mod jsonl;
mod openviking_answers;
mod parquet;
mod response;
mod response_line;
mod response_set;
mod trec_run;

pub use format::{RESPONSE_FORMATS, ResponseFormat};
pub use jsonl::{Parts, ResponseLine, Twins, parse_response, read_jsonl_responses, response_lines};
pub use parquet::write_parquet;
pub use response::Response;
pub use response_line::response_line;
pub use response_set::{Pick, ResponseSet};
