//! Results on stdout. A reader that has gone away (`| head`) is no fault.

use std::fmt::Display;
use std::io::{self, Write};

use super::failure::Failure;

/// Names that are told one by one in a message.
const MOST_NAMED: usize = 5;

/// The first of `names` for a message, and whether there are more.
pub fn first_of<T: Display>(names: &[T]) -> String {
    let named: Vec<String> = names.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = if names.len() > MOST_NAMED { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

/// Writes `text` to stdout.
///
/// # Errors
/// When stdout cannot be written to for another reason than a closed pipe.
pub fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Io { what: "write to stdout".to_string(), error })
        }
        _ => Ok(()),
    }
}

/// Writes a JSON document and a line end to stdout.
///
/// # Errors
/// As [`out`].
pub fn out_json(value: &serde_json::Value) -> Result<(), Failure> {
    out(&format!("{value:#}\n"))
}
