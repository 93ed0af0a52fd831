//! Responses as a Parquet table: a row per case with the columns `case_id`, `answer`, `latency_ms` and `error`, and as JSON text
//! `results`, `citations`, `samples` and `metadata`. They are the keys of a JSON line; all but the first may be missing or null.

use std::path::Path;

use ragstage_cache::table::{TableReader, TableWriter};
use serde_json::{Value, json};

use super::jsonl::{Parts, ResponseLine, parse_response};
use super::response::Response;
use super::response_line::Line;
use crate::error::{InputError, Place};

const NAME: &str = "responses";
const VERSION: u32 = 1;

/// The table of responses whose cases are known by their ids.
///
/// # Errors
/// Only through a fault of ours.
pub fn write_parquet(responses: &[(String, Response)]) -> Result<Vec<u8>, String> {
    let lines = responses
        .iter()
        .map(|(case_id, response)| serde_json::to_value(Line::of(case_id, response)))
        .collect::<Result<Vec<Value>, serde_json::Error>>()
        .map_err(|error| error.to_string())?;
    let json = |key: &str| lines.iter().map(|line| line.get(key).map(Value::to_string)).collect::<Vec<_>>();
    let (results, citations, samples, metadata) =
        (json("results"), json("citations"), json("samples"), json("metadata"));
    let text = |key: &'static str| lines.iter().map(move |line| line.get(key).and_then(Value::as_str));
    let mut table = TableWriter::new(NAME, VERSION);
    table.text("case_id", responses.iter().map(|(case_id, _)| case_id.as_str()));
    table.opt_text("answer", text("answer"));
    for (name, column) in
        [("results", &results), ("citations", &citations), ("samples", &samples), ("metadata", &metadata)]
    {
        table.opt_text(name, column.iter().map(Option::as_deref));
    }
    table.opt_float("latency_ms", responses.iter().map(|(_, response)| response.latency_ms));
    table.opt_text("error", text("error"));
    table.finish().map_err(|error| error.to_string())
}

/// The responses of a file, ours or made by another program.
///
/// # Errors
/// What is no such table, and rows that are no response.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let whole = |message: String| {
        vec![
            InputError::new(Place::file(path), message)
                .hint("a table of responses is what `ragstage import` writes; make it again"),
        ]
    };
    let table = TableReader::open_any(bytes.to_vec()).map_err(|error| whole(format!("cannot be read: {error}")))?;
    let column = |name: &str| match table.has(name) {
        true => table.opt_text(name).map_err(|error| whole(error.to_string())),
        false => Ok(vec![None; table.rows()]),
    };
    let ids = table.text("case_id").map_err(|error| whole(error.to_string()))?;
    let (answers, errors_of) = (column("answer")?, column("error")?);
    let (results, citations) = (column("results")?, column("citations")?);
    let (samples, metadata) = (column("samples")?, column("metadata")?);
    let latency = match table.has("latency_ms") {
        true => table.opt_float("latency_ms").map_err(|error| whole(error.to_string()))?,
        false => vec![None; table.rows()],
    };
    let (mut responses, mut errors) = (Vec::new(), Vec::new());
    for (i, case_id) in ids.iter().enumerate() {
        let row = i as u64 + 1;
        let mut line = json!({"case_id": case_id});
        let mut fault = None;
        for (key, column) in
            [("results", &results), ("citations", &citations), ("samples", &samples), ("metadata", &metadata)]
        {
            let Some(text) = column.get(i).and_then(Option::as_deref) else { continue };
            match serde_json::from_str::<Value>(text) {
                Ok(value) => line[key] = value,
                Err(error) => fault = Some(format!("expected JSON in the column {key} of row {row}: {error}")),
            }
        }
        for (key, column) in [("answer", &answers), ("error", &errors_of)] {
            if let Some(text) = column.get(i).and_then(Option::as_deref) {
                line[key] = text.into();
            }
        }
        if let Some(latency) = latency.get(i).copied().flatten() {
            line["latency_ms"] = latency.into();
        }
        match fault {
            Some(fault) => errors.push(InputError::new(Place::file(path), fault)),
            None => {
                match parse_response(path, ResponseLine { number: row, bytes: line.to_string().as_bytes() }, Parts::ALL)
                {
                    Ok(response) => responses.push((row, response)),
                    // The column is that of a line that nobody wrote.
                    Err(error) => {
                        errors.push(InputError::new(Place::file(path), format!("row {row}: {}", error.message)))
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(responses) } else { Err(errors) }
}
