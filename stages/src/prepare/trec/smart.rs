//! The format of SMART's collections: records that begin with `.I`, of sections that begin with `.T`, `.W` and others.

use std::path::Path;

use crate::error::{InputError, Place};
use crate::python::strip;

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SmartRecord {
    /// What follows `.I`.
    pub(super) id: String,
    /// The section `.T`, on one line.
    pub(super) title: String,
    /// The section `.W`, its lines as they are.
    pub(super) text: String,
    /// Where it begins.
    pub(super) place: Place,
}

/// The records of `text`; other sections are passed over. A line before the first record, or within a record before its first
/// section, is an error.
pub(super) fn records(path: &Path, text: &str, errors: &mut Vec<InputError>) -> Vec<SmartRecord> {
    let mut records: Vec<SmartRecord> = Vec::new();
    let mut section = None;
    for (number, line) in (1u64..).zip(text.lines()) {
        if let Some(id) = line.strip_prefix(".I").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) {
            let place = Place::line(path, number);
            let id = strip(id).to_string();
            if id.is_empty() {
                errors.push(InputError::new(place.clone(), "`.I` without a number; expected one after it"));
            }
            records.push(SmartRecord { id, title: String::new(), text: String::new(), place });
            section = None;
        } else if let Some(letter) = letter(line) {
            section = Some(letter);
        } else if !line.trim().is_empty() {
            let Some(record) = records.last_mut() else {
                let error = InputError::new(Place::line(path, number), "expected a record, which begins with `.I`");
                errors.push(error.hint("is this a file of SMART's format?"));
                return records;
            };
            match section {
                None => {
                    let message = "expected a section, which begins with a line such as `.T` or `.W`";
                    errors.push(InputError::new(Place::line(path, number), message));
                }
                Some('T') => add(&mut record.title, " ", line.trim()),
                Some('W') => add(&mut record.text, "\n", line.trim_end()),
                Some(_) => {}
            }
        }
    }
    records
}

/// The letter of a line that begins a section: a dot and a capital letter alone.
fn letter(line: &str) -> Option<char> {
    let mut rest = line.strip_prefix('.')?.chars();
    let letter = rest.next().filter(char::is_ascii_uppercase)?;
    rest.as_str().trim().is_empty().then_some(letter)
}

fn add(text: &mut String, between: &str, line: &str) {
    if !text.is_empty() {
        text.push_str(between);
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<SmartRecord>, Vec<String>) {
        let mut errors = Vec::new();
        let records = records(Path::new("f"), text, &mut errors);
        (records, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn records_have_sections() {
        let (records, errors) = read(
            ".I 1\r\n.T\r\nhigh\r\ntide .\r\n.A\r\nholt,a.\r\n.W\r\nhigh\r\n  tide .\r\n.5 of it\r\n.I 002\n.W \n.I 3\n",
        );
        assert!(errors.is_empty(), "{errors:?}");
        let parts: Vec<_> = records.iter().map(|r| (r.id.as_str(), r.title.as_str(), r.text.as_str())).collect();
        assert_eq!(parts, [("1", "high tide .", "high\n  tide .\n.5 of it"), ("002", "", ""), ("3", "", "")]);
        assert_eq!(records[1].place, Place::line("f", 11));
    }

    #[test]
    fn lines_of_no_section_are_told() {
        let (_, errors) = read("\nx\n.I 1\n");
        assert_eq!(errors, ["f:2: expected a record, which begins with `.I`"]);
        let (_, errors) = read(".I\n.W\nx\n.I 2\ny\n");
        assert_eq!(
            errors,
            [
                "f:1: `.I` without a number; expected one after it",
                "f:5: expected a section, which begins with a line such as `.T` or `.W`",
            ]
        );
    }
}
