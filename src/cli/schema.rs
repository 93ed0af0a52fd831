//! `schema`.

use super::failure::Failure;
use super::out::out_json;
use crate::evaluation::json_schema;
use crate::exit;

/// Prints the JSON Schema of the evaluation file.
///
/// # Errors
/// When stdout cannot be written to.
pub fn schema() -> Result<u8, Failure> {
    out_json(&json_schema())?;
    Ok(exit::OK)
}
