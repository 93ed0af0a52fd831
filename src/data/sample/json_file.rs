//! JSON files of which parts are written again, byte for byte: whoever parses and prints one changes its numbers, its order and
//! its digest.

use std::path::{Path, PathBuf};

use ragstage_stages::error::{InputError, Place};
use ragstage_stages::prepare::SourceBytes;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A file that was read.
pub(super) struct TextFile {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its text, unpacked.
    pub(super) text: String,
}

impl TextFile {
    /// Reads a file, which may be a gzip.
    pub(super) fn read(path: PathBuf) -> Result<Self, InputError> {
        let error = |why: String| InputError::new(Place::file(&path), why);
        let bytes = std::fs::read(&path).map_err(|why| error(format!("cannot be read: {why}")))?;
        let bytes = SourceBytes { path: &path, bytes: &bytes }.unpacked()?.into_owned();
        let text = String::from_utf8(bytes).map_err(|why| error(format!("expected UTF-8: {}", why.utf8_error())))?;
        // A byte order mark is no JSON, and part of no column's name.
        let text = text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text);
        Ok(TextFile { path, text })
    }

    /// The whole file as JSON.
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, InputError> {
        self.parse(&self.text)
    }

    /// `part`, a slice of the file's text, as JSON.
    pub(super) fn parse<'a, T: Deserialize<'a>>(&'a self, part: &'a str) -> Result<T, InputError> {
        serde_json::from_str(part).map_err(|error| {
            let (line, column) = self.place(part);
            let lines = (error.line() as u64).saturating_sub(1);
            let column =
                if lines == 0 { column + (error.column() as u64).saturating_sub(1) } else { error.column() as u64 };
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            InputError::new(Place::at(&self.path, line + lines, column.max(1)), message)
        })
    }

    /// Line and column of `part`, a slice of the file's text.
    fn place(&self, part: &str) -> (u64, u64) {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or_default();
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        (line, column)
    }

    /// An error about `part`, a slice of the file's text.
    pub(super) fn fault(&self, part: &str, message: impl Into<String>) -> InputError {
        let (line, column) = self.place(part);
        InputError::new(Place::at(&self.path, line, column), message)
    }
}

/// A JSON object as it is written: its keys in order, each with the text of its value.
pub(super) struct Object<'a> {
    /// Keys and values.
    pub(super) fields: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// The text of the value at `key`; the last one, where it is there twice.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// The value at `key`, where it is there and fits.
    pub(super) fn value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// The object with another text in the place of the value at `key`.
    pub(super) fn with(&self, key: &str, value: &str) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|(name, old)| format!("{}: {}", quoted(name), if name == key { value } else { old.get() }))
            .collect();
        format!("{{{}}}", fields.join(", "))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Fields).map(|fields| Object { fields })
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Texts as a JSON array, one on each line.
pub(super) fn array(items: &[String]) -> String {
    if items.is_empty() { "[]\n".to_string() } else { format!("[\n{}\n]\n", items.join(",\n")) }
}

/// For each of `items` the position of the first that is equal.
pub(super) fn firsts<T: std::hash::Hash + Eq>(items: impl Iterator<Item = T>) -> Vec<usize> {
    let mut first = std::collections::HashMap::new();
    items.enumerate().map(|(i, item)| *first.entry(item).or_insert(i)).collect()
}

/// The first of `names` that is a file in `folder`, or `folder` itself where it is a file.
pub(super) fn find_file(folder: &Path, names: &[&str]) -> Result<PathBuf, InputError> {
    if folder.is_file() {
        return Ok(folder.to_path_buf());
    }
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
        let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        InputError::new(Place::file(folder), format!("expected {} in this folder, found none", named.join(" or ")))
            .hint("`ragstage data download` fetches it; --from names the folder that it is in")
    })
}
