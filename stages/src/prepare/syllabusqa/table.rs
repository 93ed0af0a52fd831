//! Rows of questions, from CSV or JSON (spec/openviking 2.2).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use crate::error::{InputError, Place};
use crate::nearest::misspelt;
use crate::prepare::fields::Fields;
use crate::prepare::json_file::JsonFile;
use crate::prepare::lines::SourceBytes;
use crate::python::strip;

/// A question as the dataset has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableRow {
    /// Where it is.
    pub(super) place: Place,
    /// Its number in the file, or of JSON among those of its syllabus, from 1.
    pub(super) number: u64,
    /// Its id, where it has one.
    pub(super) id: Option<String>,
    /// The syllabus that it is about; may be empty.
    pub(super) syllabus: String,
    /// Its type.
    pub(super) question_type: Option<String>,
    /// The question; absent where it was told to be missing.
    pub(super) question: Option<String>,
    /// The gold answer, unless it is blank.
    pub(super) answer: Option<String>,
    /// The passages of the syllabus that hold the answer, as written.
    pub(super) spans: Vec<String>,
    /// The steps that lead to it, as written.
    pub(super) steps: Vec<String>,
}

/// The columns that every file has.
const REQUIRED: [&str; 5] = ["id", "syllabus_name", "question_type", "question", "answer"];

/// The columns of passages and steps, numbered from 1.
const NUMBERED: [(&str, usize); 2] = [("answer_span", 5), ("reasoning_step", 5)];

/// The rows of `source`, in its order.
pub(super) fn table_rows(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<TableRow> {
    if source.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        json_rows(source, errors)
    } else {
        csv_rows(source, errors)
    }
}

/// The rows of `{syllabus: [row, ...]}`. A row may lack any key but `question`.
fn json_rows(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<TableRow> {
    let Some(file) = JsonFile::open(source, errors) else { return Vec::new() };
    let mut rows = Vec::new();
    for (syllabus, part) in file.root().entries(errors) {
        for (number, part) in (1u64..).zip(part.items(errors)) {
            let row = match part.row() {
                Ok(row) => row,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            let fields = Fields::named(source.path, &row, &part.name);
            let question = fields.text("question", errors);
            let mut cell = |column: &str| fields.verbatim(column, errors);
            rows.push(TableRow {
                place: fields.place(),
                number,
                id: said(cell("id")),
                syllabus: syllabus.clone(),
                question_type: said(cell("question_type")),
                question,
                answer: said(cell("answer")),
                spans: numbered(NUMBERED[0], &mut cell),
                steps: numbered(NUMBERED[1], &mut cell),
            });
        }
    }
    rows
}

/// The rows of a table whose first row names the columns.
fn csv_rows(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<TableRow> {
    let bytes = match source.unpacked() {
        Ok(bytes) => bytes,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut columns: Option<Columns> = None;
    let mut rows = Vec::new();
    // Reading from memory cannot fail, and rows of any length are taken.
    while reader.read_byte_record(&mut record).is_ok_and(|found| found) {
        let line = record.position().map_or(0, csv::Position::line);
        let row = Record { path: source.path, line, record: &record };
        match &columns {
            None => match Columns::read(&row, errors) {
                Some(found) => columns = Some(found),
                None => return Vec::new(),
            },
            Some(columns) => rows.extend(columns.row(&row, rows.len() as u64 + 1, errors)),
        }
    }
    if columns.is_none() {
        let error = InputError::new(Place::file(source.path), "expected a table of questions, found an empty file");
        errors.push(error.hint("fetch the file again"));
    }
    rows
}

/// A row of a table.
struct Record<'a> {
    path: &'a Path,
    line: u64,
    record: &'a ByteRecord,
}

impl Record<'_> {
    fn error(&self, message: String) -> InputError {
        InputError::new(Place::line(self.path, self.line), message)
    }

    /// The text of the cell at `position`, its line ends as LF.
    fn cell(&self, position: usize, column: &str, errors: &mut Vec<InputError>) -> Option<String> {
        match std::str::from_utf8(self.record.get(position)?) {
            Ok(text) => Some(lines_ended_by_lf(text).into_owned()),
            Err(_) => {
                errors.push(self.error(format!("`{column}` is no UTF-8")).hint("save the file as UTF-8"));
                None
            }
        }
    }
}

/// `text` with every CRLF and CR as LF: cells with the one and the other are the same.
fn lines_ended_by_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// Where each column is.
struct Columns {
    count: usize,
    positions: HashMap<String, usize>,
}

impl Columns {
    fn read(header: &Record<'_>, errors: &mut Vec<InputError>) -> Option<Self> {
        let before = errors.len();
        let mut positions = HashMap::new();
        for position in 0..header.record.len() {
            let Some(name) = header.cell(position, "header", errors) else { continue };
            let name = strip(&name).to_string();
            if positions.insert(name.clone(), position).is_some() && !name.is_empty() {
                errors.push(header.error(format!("the column `{name}` is there twice")));
            }
        }
        for column in REQUIRED {
            if !positions.contains_key(column) {
                let error = header.error(format!("the column `{column}` is missing"));
                let known = |name: &&str| !REQUIRED.contains(name);
                let meant =
                    positions.keys().map(String::as_str).filter(known).find(|name| misspelt(name, [column]).is_some());
                let mut found: Vec<&str> = positions.keys().map(String::as_str).collect();
                found.sort_unstable();
                errors.push(match meant {
                    Some(name) => error.hint(format!("there is a column `{name}`; call it `{column}`")),
                    None => error.hint(format!("the columns are {}", found.join(", "))),
                });
            }
        }
        (errors.len() == before).then_some(Columns { count: header.record.len(), positions })
    }

    fn row(&self, row: &Record<'_>, number: u64, errors: &mut Vec<InputError>) -> Option<TableRow> {
        if row.record.len() != self.count {
            let (found, expected) = (row.record.len(), self.count);
            let error = row.error(format!("expected {expected} cells as in the first row, found {found}"));
            errors.push(
                error.hint("a cell that holds a comma, a quote or a line end must be in quotes; is the file cut off?"),
            );
            return None;
        }
        let before = errors.len();
        let mut cell = |column: &str| row.cell(*self.positions.get(column)?, column, errors);
        let [id, syllabus, question_type, question, answer] = REQUIRED.map(&mut cell);
        let (spans, steps) = (numbered(NUMBERED[0], &mut cell), numbered(NUMBERED[1], &mut cell));
        let (id, question) = (said(id), said(question));
        let is_text = errors.len() == before;
        for (column, there) in [("id", id.is_some()), ("question", question.is_some())] {
            if is_text && !there {
                errors.push(row.error(format!("`{column}` is blank")));
            }
        }
        Some(TableRow {
            place: Place::line(row.path, row.line),
            number,
            id,
            syllabus: syllabus.unwrap_or_default(),
            question_type: said(question_type),
            question,
            answer: said(answer),
            spans,
            steps,
        })
    }
}

/// The cells of numbered columns.
fn numbered((column, last): (&str, usize), cell: &mut dyn FnMut(&str) -> Option<String>) -> Vec<String> {
    (1..=last).filter_map(|number| cell(&format!("{column}_{number}"))).collect()
}

/// A text without blanks around it; `None` where nothing is left.
fn said(text: Option<String>) -> Option<String> {
    let text = text?;
    let text = strip(&text);
    (!text.is_empty()).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "id,syllabus_name,question_type,question,answer,answer_span_1,reasoning_step_1\n";

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<TableRow>, Vec<String>> {
        let mut errors = Vec::new();
        let rows = table_rows(SourceBytes { path: Path::new(name), bytes }, &mut errors);
        if errors.is_empty() { Ok(rows) } else { Err(errors.iter().map(ToString::to_string).collect()) }
    }

    fn csv(rows: &str) -> Result<Vec<TableRow>, Vec<String>> {
        read("q.csv", format!("\u{feff}{HEADER}{rows}").as_bytes())
    }

    #[test]
    fn cells_may_hold_line_ends_of_any_kind() {
        let rows = csv("1,Öl,yes/no,\"Is it\rso,\r\n or \"\"not\"\"?\n\",Yes,a b, s\n2,,,q,,,\r\n").expect("rows");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].question.as_deref(), Some("Is it\nso,\n or \"not\"?"));
        assert_eq!(
            (rows[0].spans.as_slice(), rows[0].steps.as_slice()),
            (["a b".to_string()].as_slice(), [" s".to_string()].as_slice())
        );
        assert_eq!(
            (rows[1].id.as_deref(), rows[1].syllabus.as_str(), rows[1].answer.as_deref()),
            (Some("2"), "", None)
        );
        assert_eq!(rows[1].number, 2);
    }

    #[test]
    fn faults_have_their_lines() {
        assert_eq!(
            csv("1,S,t,\"two\nlines\",a,,\n2,S,t,q\n,S,t, ,a,,\n").unwrap_err(),
            [
                "q.csv:4: expected 7 cells as in the first row, found 4",
                "q.csv:5: `id` is blank",
                "q.csv:5: `question` is blank",
            ]
        );
        // A bare CR outside quotes ends a row.
        assert_eq!(
            csv("1,S,t,q\rr,a,,\n").unwrap_err(),
            [
                "q.csv:2: expected 7 cells as in the first row, found 4",
                "q.csv:2: expected 7 cells as in the first row, found 4",
            ]
        );
        assert_eq!(csv("1,S,t,\"cut of").unwrap_err(), ["q.csv:2: expected 7 cells as in the first row, found 4"]);
        assert_eq!(read("q.csv", b"").unwrap_err(), ["q.csv: expected a table of questions, found an empty file"]);
        let latin = [HEADER.as_bytes(), b"1,S,t,caf\xe9,a,,\n"].concat();
        assert_eq!(read("q.csv", &latin).unwrap_err(), ["q.csv:2: `question` is no UTF-8"]);
    }

    #[test]
    fn a_wrong_column_is_told_with_what_is_there() {
        let header = HEADER.replace("question_type", "questiontype").replace("answer,", "reply,");
        let mut errors = Vec::new();
        table_rows(SourceBytes { path: Path::new("q.csv"), bytes: header.as_bytes() }, &mut errors);
        let told: Vec<_> =
            errors.iter().map(|error| (error.to_string(), error.hint.clone().unwrap_or_default())).collect();
        assert_eq!(told[0].0, "q.csv:1: the column `question_type` is missing");
        assert_eq!(told[0].1, "there is a column `questiontype`; call it `question_type`");
        assert_eq!(told[1].0, "q.csv:1: the column `answer` is missing");
        assert!(told[1].1.starts_with("the columns are answer_span_1, id"), "{told:?}");
        let twice = HEADER.replace("answer_span_1", "answer");
        assert_eq!(read("q.csv", twice.as_bytes()).unwrap_err(), ["q.csv:1: the column `answer` is there twice"]);
    }

    #[test]
    fn json_has_the_rows_by_syllabus() {
        let text = "{\"S\": [{\"id\": \"a\", \"question\": \"q\", \"answer_span_2\": \"x\"},\n {\"question\": \"r\", \"answer\": null}], \"\": []}";
        let rows = read("q.json", text.as_bytes()).expect("rows");
        assert_eq!(
            rows.iter().map(|row| (row.id.as_deref(), row.number)).collect::<Vec<_>>(),
            [(Some("a"), 1), (None, 2)]
        );
        assert_eq!(
            (rows[0].spans.as_slice(), &rows[1].place),
            (["x".to_string()].as_slice(), &Place::line("q.json", 2))
        );
        let text = "{\"S\": [{\"answer\": \"a\"}, 7],\n \"T\": 1}";
        assert_eq!(
            read("q.json", text.as_bytes()).unwrap_err(),
            [
                "q.json:1: `S[0].question` is missing; expected a text",
                "q.json:1: `S[1]` is the number 7; expected an object",
                "q.json:2: `T` is the number 1; expected a list",
            ]
        );
    }
}
