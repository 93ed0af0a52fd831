//! The extended files of UDA-Benchmark: what else is known of some of the questions.

use std::collections::HashMap;

use serde_json::Value;

use super::super::fields::Fields;
use super::super::json_file::JsonFile;
use super::super::lines::SourceBytes;
use super::super::record_faults::RecordFaults;
use super::super::rows::Row;
use crate::error::InputError;

/// The entries of an extended file, by document and question. It is an object of lists, by the documents' names.
#[derive(Debug, Default)]
pub(super) struct Extended {
    entries: HashMap<String, HashMap<String, Entry>>,
    path: std::path::PathBuf,
}

/// What is known of one question.
#[derive(Debug)]
pub(super) struct Entry {
    row: Row,
    /// How people find it, e.g. `KLM_2011[3]`.
    name: String,
}

impl Extended {
    /// Reads `source`. Of entries with the same question the first counts.
    pub(super) fn read(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Self {
        let mut extended = Extended { path: source.path.to_path_buf(), ..Extended::default() };
        let Some(file) = JsonFile::open(source, errors) else { return extended };
        let mut faults = RecordFaults::new("entries");
        for (document, part) in file.root().entries(errors) {
            let mut found = Vec::new();
            let items = part.items(&mut found);
            faults.add(found);
            let entries = extended.entries.entry(document).or_default();
            for item in items {
                let mut found = Vec::new();
                match item.row() {
                    Ok(row) => {
                        let id = Fields::named(source.path, &row, &item.name).text("q_uid", &mut found);
                        if let Some(id) = id {
                            entries.entry(id).or_insert(Entry { row, name: item.name });
                        }
                    }
                    Err(error) => found.push(error),
                }
                faults.add(found);
            }
        }
        faults.append_to(errors);
        extended
    }

    /// The entry of the question `id` on `document`.
    pub(super) fn of(&self, document: &str, id: &str) -> Option<&Entry> {
        self.entries.get(document)?.get(id)
    }

    /// The fields of `entry`.
    pub(super) fn fields<'e>(&'e self, entry: &'e Entry) -> Fields<'e> {
        Fields::named(&self.path, &entry.row, &entry.name)
    }
}

impl Entry {
    /// The value of `key`, null where it is not there.
    pub(super) fn value(&self, key: &str) -> &Value {
        self.row.object.get(key).unwrap_or(&Value::Null)
    }
}
