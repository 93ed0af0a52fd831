//! Response sets made elsewhere: what a file of responses says, whatever its format.

mod jsonl;
mod response;

pub use jsonl::{Parts, ResponseLine, Twins, parse_response, read_jsonl_responses, response_lines};
pub use response::Response;
