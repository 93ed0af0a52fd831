//! A source file that is one JSON value, of which every part knows its line.
//!
//! The file is taken apart from the outside: a part stays a stretch of the file's text until its fields are asked for. So a
//! row deep inside has the line on which it begins, and only what is read is made into values.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::fields::{describe, number_text};
use super::lines::SourceBytes;
use super::rows::Row;
use crate::error::{InputError, Place};
use crate::python::strip;
use crate::unique_json::UniqueJson;

/// The text of a file that should be one JSON value.
#[derive(Debug)]
pub(super) struct JsonFile<'a> {
    path: &'a Path,
    text: Cow<'a, str>,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
}

/// A JSON value within a file.
#[derive(Debug, Clone)]
pub(super) struct JsonPart<'f> {
    file: &'f JsonFile<'f>,
    text: &'f str,
    /// Where it begins in the file, in bytes.
    start: usize,
    /// How people find it, e.g. `[3].qa[7]`; nothing for the file's own value.
    pub(super) name: String,
}

impl<'a> JsonFile<'a> {
    /// The text of `source`, which may be gzip; a byte order mark is no part of it. `None` where it is no text or blank.
    pub(super) fn open(source: SourceBytes<'a>, errors: &mut Vec<InputError>) -> Option<Self> {
        let path = source.path;
        let bytes = match source.unpacked() {
            Ok(bytes) => bytes,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let file = JsonFile { path, text: text(path, bytes, errors)?, lines: Vec::new() };
        if strip(&file.text).is_empty() {
            let error = InputError::new(Place::file(path), "expected JSON, found an empty file");
            errors.push(error.hint("fetch the file again"));
            return None;
        }
        let lines = memchr::memchr_iter(b'\n', file.text.as_bytes()).map(|end| end + 1);
        let lines = std::iter::once(0).chain(lines).collect();
        Some(JsonFile { lines, ..file })
    }

    /// The value that the file is.
    pub(super) fn root(&self) -> JsonPart<'_> {
        JsonPart { file: self, text: &self.text, start: 0, name: String::new() }
    }

    /// The line (from 1) of the byte at `at`, and where that line begins.
    fn line(&self, at: usize) -> (u64, usize) {
        let line = self.lines.partition_point(|start| *start <= at);
        (line as u64, line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or_default())
    }

    /// The place of the byte at `at`, its column in characters.
    fn place(&self, at: usize) -> Place {
        let (line, start) = self.line(at);
        let before = self.text.as_bytes().get(start..at).unwrap_or_default();
        // Every character has one byte that continues none.
        let column = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64 + 1;
        Place::at(self.path, line, column)
    }
}

fn text<'a>(path: &Path, bytes: Cow<'a, [u8]>, errors: &mut Vec<InputError>) -> Option<Cow<'a, str>> {
    let marked = bytes.starts_with(b"\xef\xbb\xbf");
    let decoded = match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error()),
    };
    match (decoded, marked) {
        (Ok(text), false) => Some(text),
        (Ok(Cow::Borrowed(text)), true) => Some(Cow::Borrowed(text.get(3..).unwrap_or_default())),
        (Ok(Cow::Owned(mut text)), true) => {
            text.drain(..3);
            Some(Cow::Owned(text))
        }
        (Err(error), _) => {
            let message = format!("expected UTF-8, found other bytes after {} bytes", error.valid_up_to());
            errors.push(InputError::new(Place::file(path), message).hint("save the file as UTF-8"));
            None
        }
    }
}

impl<'f> JsonPart<'f> {
    /// The line on which it begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.file.line(self.start).0
    }

    /// An error at its line.
    pub(super) fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(Place::line(self.file.path, self.line()), message)
    }

    /// The file that it is in.
    pub(super) fn path(&self) -> &'f Path {
        self.file.path
    }

    /// Whether it is an object.
    pub(super) fn is_object(&self) -> bool {
        self.text.trim_ascii_start().starts_with('{')
    }

    /// Whether it is null.
    pub(super) fn is_null(&self) -> bool {
        self.text.trim_ascii() == "null"
    }

    /// The text that it is. Another value is an error; a number stands for its text.
    pub(super) fn text(&self, errors: &mut Vec<InputError>) -> Option<String> {
        let value = match serde_json::from_str(self.text) {
            Ok(value) => value,
            Err(error) => {
                errors.push(self.fault(&error, "a text"));
                return None;
            }
        };
        let text = match &value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => number_text(number),
            _ => None,
        };
        if text.is_none() {
            errors.push(self.error(self.unlike("a text", &describe(&value))));
        }
        text
    }

    /// The entries of an object, in file order. Another value, and a key that is there twice, is an error.
    pub(super) fn entries(&self, errors: &mut Vec<InputError>) -> Vec<(String, JsonPart<'f>)> {
        let entries: Vec<(String, &'f RawValue)> = match serde_json::from_str(self.text) {
            Ok(Entries(entries)) => entries,
            Err(error) => {
                errors.push(self.fault(&error, "an object"));
                return Vec::new();
            }
        };
        let dot = if self.name.is_empty() { "" } else { "." };
        let part = |(key, raw): (String, &'f RawValue)| {
            let name = format!("{}{dot}{}", self.name, shown(&key));
            (key, self.part(raw, name))
        };
        entries.into_iter().map(part).collect()
    }

    /// The items of a list. Another value is an error.
    pub(super) fn items(&self, errors: &mut Vec<InputError>) -> Vec<JsonPart<'f>> {
        match serde_json::from_str::<Vec<&'f RawValue>>(self.text) {
            Ok(items) => {
                let item = |(i, raw): (usize, &'f RawValue)| self.part(raw, format!("{}[{i}]", self.name));
                items.into_iter().enumerate().map(item).collect()
            }
            Err(error) => {
                errors.push(self.fault(&error, "a list"));
                Vec::new()
            }
        }
    }

    /// The object with all that is in it. Another value, and a key that is there twice at any depth, is an error.
    ///
    /// # Errors
    /// As said.
    pub(super) fn row(&self) -> Result<Row, InputError> {
        match serde_json::from_str(self.text) {
            Ok(UniqueJson(Value::Object(object))) => Ok(Row { line: self.line(), object }),
            Ok(UniqueJson(value)) => Err(self.error(self.unlike("an object", &describe(&value)))),
            Err(error) => Err(self.fault(&error, "an object")),
        }
    }

    fn part(&self, raw: &'f RawValue, name: String) -> JsonPart<'f> {
        let text = raw.get();
        // Both are stretches of the file's text, so the difference of their addresses is that of their places.
        let start = (text.as_ptr() as usize).saturating_sub(self.file.text.as_ptr() as usize);
        JsonPart { file: self.file, text, start, name }
    }

    fn unlike(&self, expected: &str, found: &str) -> String {
        if self.name.is_empty() {
            format!("expected {expected}, found {found}")
        } else {
            format!("`{}` is {found}; expected {expected}", self.name)
        }
    }

    /// What the parser says of this part, placed in the file.
    fn fault(&self, error: &serde_json::Error, expected: &str) -> InputError {
        let text = error.to_string();
        // Of another type of value the parser says what it wants, of a repeated key we do.
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
        match error.classify() {
            Category::Data if what.starts_with("the key ") => {
                let error = InputError::new(self.file.place(self.at(error)), what);
                error.hint("keep the one that is meant")
            }
            Category::Data => {
                let found =
                    serde_json::from_str::<Value>(self.text).map_or("another value".to_string(), |v| describe(&v));
                self.error(self.unlike(expected, &found))
            }
            Category::Eof => {
                let end = self.start + self.text.trim_ascii_end().len();
                InputError::new(self.file.place(end), format!("invalid JSON: {what}"))
                    .hint("is the file cut off? fetch it again")
            }
            _ => {
                let error = InputError::new(self.file.place(self.at(error)), format!("invalid JSON: {what}"));
                if what.starts_with("trailing") {
                    error.hint("the file must be one JSON value; is it JSON lines?")
                } else {
                    error.hint("fetch the file again")
                }
            }
        }
    }

    /// The byte of the file that the parser means: it counts lines from 1 and bytes from 1, within what it was given.
    fn at(&self, error: &serde_json::Error) -> usize {
        let (first, line_start) = self.file.line(self.start);
        let line = first as usize + error.line().saturating_sub(1);
        let begin = match error.line() {
            0 | 1 => self.start.max(line_start),
            _ => self.file.lines.get(line - 1).copied().unwrap_or(self.file.text.len()),
        };
        (begin + error.column().saturating_sub(1)).min(self.file.text.len())
    }
}

/// The beginning of a key, for it may be of any length.
fn shown(key: &str) -> &str {
    const MOST: usize = 80;
    key.char_indices().nth(MOST).and_then(|(end, _)| key.get(..end)).unwrap_or(key)
}

/// The entries of an object, in order, each key once.
struct Entries<'f>(Vec<(String, &'f RawValue)>);

impl<'de: 'f, 'f> Deserialize<'de> for Entries<'f> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData)).map(Entries)
    }
}

struct EntriesVisitor<'f>(PhantomData<&'f ()>);

impl<'de: 'f, 'f> Visitor<'de> for EntriesVisitor<'f> {
    type Value = Vec<(String, &'f RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        let mut keys = HashSet::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key `{}` is there twice", shown(&key))));
            }
            entries.push((key, value));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open<'a>(bytes: &'a [u8], errors: &mut Vec<InputError>) -> Option<JsonFile<'a>> {
        JsonFile::open(SourceBytes { path: Path::new("f.json"), bytes }, errors)
    }

    fn texts(errors: &[InputError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    const SAMPLES: &str =
        "\u{feff}[\n  {\"id\": \"a\",\n   \"qa\": [{\"q\": 1},\n  {\"q\": 2}]},\n {\"id\": \"é\", \"qa\": [7]}]\n";

    #[test]
    fn every_part_knows_its_line_and_name() {
        let mut errors = Vec::new();
        let file = open(SAMPLES.as_bytes(), &mut errors).expect("a text");
        let samples = file.root().items(&mut errors);
        assert_eq!(samples.iter().map(JsonPart::line).collect::<Vec<_>>(), [2, 5]);
        let entries = samples[0].entries(&mut errors);
        assert_eq!(entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["id", "qa"]);
        let questions = entries[1].1.items(&mut errors);
        let places: Vec<(u64, &str)> = questions.iter().map(|part| (part.line(), part.name.as_str())).collect();
        assert_eq!(places, [(3, "[0].qa[0]"), (4, "[0].qa[1]")]);
        assert_eq!(questions[1].row().map(|row| (row.line, row.object["q"].clone())), Ok((4, 2.into())));
        assert!(errors.is_empty());
        let of_second = samples[1].entries(&mut errors);
        let number = of_second[1].1.items(&mut errors).remove(0).row().expect_err("no object");
        assert_eq!(number.to_string(), "f.json:5: `[1].qa[0]` is the number 7; expected an object");
        assert!(of_second[0].1.items(&mut errors).is_empty());
        assert_eq!(texts(&errors), ["f.json:5: `[1].id` is the text \"é\"; expected a list"]);
    }

    #[test]
    fn syntax_errors_have_line_and_column_in_characters() {
        for (text, expected) in [
            ("{\"é\": 1,\n \"ü\": }", "f.json:2:7: invalid JSON: expected value"),
            ("{\"a\": [1, 2", "f.json:1:12: invalid JSON: EOF while parsing a list"),
            ("{\"a\": 1}\n{\"a\": 2}\n", "f.json:2:1: invalid JSON: trailing characters"),
            ("[]", "f.json:1: expected an object, found a list"),
            ("{\"a\": 1,\n \"a\": 2}", "f.json:2:8: the key `a` is there twice"),
        ] {
            let mut errors = Vec::new();
            let file = open(text.as_bytes(), &mut errors).expect("a text");
            file.root().entries(&mut errors);
            assert_eq!(texts(&errors), [expected], "{text}");
            assert!(!text.contains(',') || errors[0].hint.is_some());
        }
    }

    #[test]
    fn faults_of_an_inner_part_are_placed_in_the_file() {
        let mut errors = Vec::new();
        let file = open(b"[\n{\"x\": 1},\n  {\"a\": {\"b\": 1,\n \"b\": 2}}]", &mut errors).expect("a text");
        let error = file.root().items(&mut errors)[1].row().expect_err("a key twice");
        assert_eq!(error.to_string(), "f.json:4:4: the key `b` is there twice");
        let file = open(b"[ [], {\"a\": {\"b\": 1, \"b\": 2}}]", &mut errors).expect("a text");
        let error = file.root().items(&mut errors)[1].row().expect_err("a key twice");
        assert_eq!(error.place.line, Some(1));
        assert!(error.place.column > Some(20), "{error}");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (bytes, expected) in [
            (b" \n".as_slice(), "f.json: expected JSON, found an empty file"),
            (b"{\"a\": \"\xff\"}", "f.json: expected UTF-8, found other bytes after 7 bytes"),
            (b"\xef\xbb\xbf", "f.json: expected JSON, found an empty file"),
        ] {
            let mut errors = Vec::new();
            assert!(open(bytes, &mut errors).is_none());
            assert_eq!(texts(&errors), [expected]);
        }
    }
}
