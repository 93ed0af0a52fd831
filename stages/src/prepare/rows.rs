//! Rows of a JSON-lines file.

use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;
use serde_json::error::Category;

use super::fields::describe;
use super::lines::{Line, LineEnds, SourceBytes, lines};
use crate::artifact::Json;
use crate::error::{InputError, Place};
use crate::python::strip;
use crate::unique_json::UniqueJson;

/// One row: a JSON object on a line of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The line in the file, from 1.
    pub line: u64,
    /// The object.
    pub object: Json,
}

/// The rows of `source` in file order; blank lines are none. Lines that hold no JSON object are errors.
pub(super) fn rows(source: SourceBytes<'_>, ends: LineEnds, errors: &mut Vec<InputError>) -> Vec<Row> {
    let bytes = match source.unpacked() {
        Ok(bytes) => bytes,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let lines = lines(source.path, &bytes, ends, errors);
    if let Some(line) = lines.first().filter(|line| is_csv(line.text)) {
        let error = InputError::new(Place::line(source.path, line.number), "this looks like CSV; expected JSON lines");
        errors.push(error.hint("write one JSON object per line, e.g. {\"...\": \"...\"}"));
        return Vec::new();
    }
    let parsed: Vec<Result<Row, InputError>> = lines.par_iter().map(|line| parse(source.path, line)).collect();
    let mut rows = Vec::with_capacity(parsed.len());
    for row in parsed {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => errors.push(error),
        }
    }
    rows
}

/// Whether the first line of a file is a row of a table: then no line is worth an error of its own.
fn is_csv(first: &str) -> bool {
    let first = strip(first);
    !first.starts_with(['{', '[']) && first.contains([',', '\t']) && serde_json::from_str::<Value>(first).is_err()
}

fn parse(path: &Path, line: &Line<'_>) -> Result<Row, InputError> {
    match serde_json::from_str(line.text).map(|UniqueJson(value)| value) {
        Ok(Value::Object(object)) => Ok(Row { line: line.number, object }),
        Ok(value) => {
            let message = format!("expected a JSON object, found {}", describe(&value));
            Err(InputError::new(Place::line(path, line.number), message)
                .hint("write one JSON object per line, e.g. {\"...\": \"...\"}"))
        }
        Err(error) if error.classify() == Category::Data => {
            let hint = "keep the one that is meant";
            Err(InputError::new(Place::line(path, line.number), without_place(&error.to_string())).hint(hint))
        }
        Err(error) => Err(syntax_error(path, line, &error)),
    }
}

/// The parser's message without its line, which is always 1.
fn without_place(text: &str) -> &str {
    text.rsplit_once(" at line ").map_or(text, |(what, _)| what)
}

/// A syntax error of a row, placed in the file: the parser counts bytes, people count characters.
fn syntax_error(path: &Path, line: &Line<'_>, error: &serde_json::Error) -> InputError {
    let text = error.to_string();
    let what = without_place(&text);
    let ended = error.classify() == Category::Eof;
    let bytes = if ended { line.text.len() } else { error.column().saturating_sub(1) };
    let before = line.text.char_indices().take_while(|(at, _)| *at < bytes).count() as u64;
    let hint = if ended {
        "an object must begin and end on the same line; is the file cut off, or indented JSON?"
    } else if what.starts_with("trailing") {
        "write one JSON object per line"
    } else {
        "each line must be valid JSON of its own"
    };
    InputError::new(Place::at(path, line.number, before + 1), format!("invalid JSON: {what}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Row>, Vec<InputError>) {
        let mut errors = Vec::new();
        (rows(SourceBytes { path: Path::new("f.jsonl"), bytes: text.as_bytes() }, LineEnds::Json, &mut errors), errors)
    }

    #[test]
    fn rows_keep_their_lines() {
        let (rows, errors) = read("\u{feff}{\"a\": 1}\r\n\n  \n{\"b\": \"x\u{2028}y\"}\n");
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(rows[1].object["b"], "x\u{2028}y");
        assert!(errors.is_empty());
    }

    #[test]
    fn a_key_that_stands_twice_is_told_with_its_line() {
        let (rows, errors) = read("{\"a\": 1}\n{\"text\": \"one\", \"text\": \"two\"}\n");
        assert_eq!((rows.len(), errors.len()), (1, 1));
        assert_eq!(errors[0].to_string(), "f.jsonl:2: the key `text` is there twice");
        assert_eq!(errors[0].hint.as_deref(), Some("keep the one that is meant"));
    }

    #[test]
    fn a_table_is_one_error() {
        for text in ["\u{feff}\n document_id,name\na,b\n", "\"id\",\"name\"\n", "id\tname\na\tb\n"] {
            let (rows, errors) = read(text);
            assert!(rows.is_empty());
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!(errors[0].message, "this looks like CSV; expected JSON lines");
        }
        for text in ["[1, 2]\n", "\"a, b\"\n", "no json\n", "{\"a\", 1}\n"] {
            assert!(!read(text).1[0].message.contains("CSV"), "{text}");
        }
    }

    #[test]
    fn every_bad_line_is_an_error_with_a_column_in_characters() {
        let (rows, errors) = read("{\"é\": }\n[1]\n{\"a\": 1}\n{\"document_id\": \n{} {}\n");
        assert_eq!(rows.len(), 1);
        let places: Vec<_> = errors.iter().map(|error| error.place.to_string()).collect();
        assert_eq!(places, ["f.jsonl:1:7", "f.jsonl:2", "f.jsonl:4:17", "f.jsonl:5:4"]);
        assert_eq!(errors[0].message, "invalid JSON: expected value");
        assert_eq!(errors[1].message, "expected a JSON object, found a list");
        assert_eq!(errors[3].hint.as_deref(), Some("write one JSON object per line"));
    }
}
