//! `labels` of a judge: what people say of cases, as CSV (RFC 4180) with the columns `case_id` and `label`.

use std::collections::BTreeMap;
use std::path::Path;

use ragstage_stages::error::Place;
use ragstage_stages::score::judge::{HumanLabel, HumanLabels};

use super::diagnostic::Faults;
use super::view::View;

/// The labels in the `text` of `file`, which the element at `view` names; `None` with its faults. Other columns are not read.
pub(super) fn read(view: &View<'_>, file: &Path, text: &str, faults: &mut Faults) -> Option<HumanLabels> {
    let before = faults.len();
    let mut fault = |line: u64, message: String, hint: &str| {
        faults.add_in_file(Place::line(file, line), &view.path, message, hint.to_string());
    };
    let (records, unclosed) = records(text);
    if let Some(line) = unclosed {
        // All that follows would be one field of it.
        fault(
            line,
            "a double quote is opened here and never closed".to_string(),
            "close it, or double one that is part of a text",
        );
        return None;
    }
    let mut records = records.into_iter();
    let (line, header) = records.next().unwrap_or((1, Vec::new()));
    let column = |name: &str| header.iter().position(|field| field.trim() == name);
    let (Some(id_column), Some(label_column)) = (column("case_id"), column("label")) else {
        let found = if header.is_empty() { "nothing".to_string() } else { header.join(", ") };
        let message = format!("expected the columns `case_id` and `label`, found {found}");
        fault(line, message, "the first line names the columns, with commas between them");
        return None;
    };
    let mut rows: Vec<HumanLabel> = Vec::new();
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (line, fields) in records {
        if fields.len() != header.len() {
            let message = format!("expected {} fields as in the first line, found {}", header.len(), fields.len());
            fault(line, message, "put texts with commas into double quotes");
            continue;
        }
        let field = |at: usize| fields.get(at).map(|field| field.trim().to_string()).unwrap_or_default();
        let (case_id, label) = (field(id_column), field(label_column));
        let needs = "each line needs a case_id and a label";
        if case_id.is_empty() {
            fault(line, "the case's id is empty".to_string(), needs);
        } else if label.is_empty() {
            fault(line, "the label is empty".to_string(), needs);
        } else if let Some(first) = lines.insert(case_id.clone(), line) {
            let message = format!("the case `{case_id}` has a label in line {first} already");
            fault(line, message, "remove one of the two");
        } else {
            rows.push(HumanLabel { case_id, label, line });
        }
    }
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (faults.len() == before).then_some(HumanLabels { file: name, rows })
}

/// The records, each with the line that it begins in; blank lines are none. And the line in which a quote is opened that is not
/// closed.
fn records(text: &str) -> (Vec<(u64, Vec<String>)>, Option<u64>) {
    let mut records = Vec::new();
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let (mut line, mut start, mut opened) = (1, 1, 1);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted || field.trim().is_empty() => {
                quoted = !quoted;
                opened = line;
            }
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                line += 1;
                fields.push(std::mem::take(&mut field));
                records.push((start, std::mem::take(&mut fields)));
                start = line;
            }
            c => {
                line += u64::from(c == '\n');
                field.push(c);
            }
        }
    }
    fields.push(field);
    records.push((start, fields));
    records.retain(|(_, fields)| fields.iter().any(|field| !field.trim().is_empty()) || fields.len() > 1);
    (records, quoted.then_some(opened))
}
