//! JSON files with the indent of OpenViking's benchmark.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::super::error::OpenVikingError;
use crate::exec::RunError;
use crate::publish::write_if_changed;

/// Writes `value` with `indent` blanks a level, through a temporary name, unless that is what is there.
///
/// # Errors
/// When the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize, indent: usize) -> Result<(), OpenVikingError> {
    let io = |error: std::io::Error| OpenVikingError::Io { what: format!("write {}", path.display()), error };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    let blanks = vec![b' '; indent];
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(&blanks));
    value.serialize(&mut serializer).map_err(|error| OpenVikingError::Run(RunError::Internal(error.to_string())))?;
    write_if_changed(path, &bytes).map(drop).map_err(io)
}

/// The JSON of the file at `path`; `None` where there is no such file.
///
/// # Errors
/// When it cannot be read or is no JSON, as a fragment for people.
pub fn read_json(path: &Path) -> Result<Option<Value>, String> {
    match std::fs::read(path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(format!("{}:{}:{}: no JSON: {error}", path.display(), error.line(), error.column())),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: cannot be read: {error}", path.display())),
    }
}
