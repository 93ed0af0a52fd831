//! JSON lines of which some are written again, byte for byte.

use ragstage_stages::error::{InputError, Place};
use serde_json::Value;

use super::json_file::TextFile;

/// Most lines that are told of. When very many are wrong they are all wrong in the same way.
const MOST_TOLD: usize = 20;

/// A file with its lines.
pub(super) struct LinesFile {
    file: TextFile,
    /// For each line that is not blank its value and where its text is.
    pub(super) rows: Vec<(Value, std::ops::Range<usize>)>,
}

impl LinesFile {
    /// The lines of `file`.
    pub(super) fn read(file: TextFile) -> Result<Self, Vec<InputError>> {
        let (mut rows, mut errors) = (Vec::new(), Vec::new());
        let mut start = 0;
        for line in file.text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            if line.trim().is_empty() {
                continue;
            }
            match file.parse::<Value>(line.trim()) {
                Ok(value) if value.is_object() => rows.push((value, range)),
                Ok(_) => errors.push(file.fault(line, "expected a JSON object")),
                Err(error) => errors.push(error),
            }
            if errors.len() == MOST_TOLD {
                break;
            }
        }
        if rows.is_empty() && errors.is_empty() {
            errors.push(InputError::new(Place::file(&file.path), "expected at least one line, found none"));
        }
        if errors.is_empty() { Ok(LinesFile { file, rows }) } else { Err(errors) }
    }

    /// The file with these rows only, in this order.
    pub(super) fn with(&self, rows: impl Iterator<Item = usize>) -> Vec<u8> {
        let texts = rows.filter_map(|row| self.file.text.get(self.rows.get(row)?.1.clone()));
        texts
            .map(|text| if text.ends_with('\n') { text.to_string() } else { format!("{text}\n") })
            .collect::<String>()
            .into_bytes()
    }

    /// An error about a row.
    pub(super) fn fault(&self, row: usize, message: impl Into<String>) -> InputError {
        let range = self.rows.get(row).map_or(0..0, |(_, range)| range.clone());
        self.file.fault(self.file.text.get(range).unwrap_or_default(), message)
    }
}
