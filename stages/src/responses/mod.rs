//! Response sets made elsewhere: what a file of responses says, whatever its format.

mod response;

pub use response::Response;
