//! CSV files of which records are written again, byte for byte.

use csv::{ByteRecord, ReaderBuilder, Terminator};
use ragstage_stages::error::{InputError, Place};

use super::json_file::TextFile;

/// How records are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Cells at commas; records at LF, CR or CRLF.
    Commas,
    /// Cells at bars; records at LF alone, since a cell may hold a CR without quotes.
    Bars,
}

/// A file with its records.
pub(super) struct CsvFile {
    /// The text of the line with the columns' names, with its end.
    header: String,
    /// Its records.
    pub(super) records: Vec<Record>,
}

/// A record.
pub(super) struct Record {
    /// The cells of the columns that were asked for.
    pub(super) cells: Vec<String>,
    /// Its text as it is written, with its end.
    text: String,
}

impl CsvFile {
    /// The records of `file`, each with the cells of `columns`.
    pub(super) fn read(file: &TextFile, dialect: Dialect, columns: &[&str]) -> Result<Self, InputError> {
        let mut builder = ReaderBuilder::new();
        if dialect == Dialect::Bars {
            builder.delimiter(b'|').terminator(Terminator::Any(b'\n'));
        }
        let mut reader = builder.has_headers(false).from_reader(file.text.as_bytes());
        let mut record = ByteRecord::new();
        let fault = |error: csv::Error| {
            let place = match error.position() {
                Some(position) => Place::line(&file.path, position.line()),
                None => Place::file(&file.path),
            };
            InputError::new(
                place,
                match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        format!("expected a record of {expected_len} cells, found {len}")
                    }
                    _ => error.to_string(),
                },
            )
        };
        let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let slice = |start: u64, end: u64| {
            let text = file.text.get(start as usize..end as usize).unwrap_or_default().trim_start_matches(['\r', '\n']);
            if text.ends_with(['\r', '\n']) { text.to_string() } else { format!("{text}\n") }
        };
        if !reader.read_byte_record(&mut record).map_err(fault)? {
            return Err(InputError::new(
                Place::file(&file.path),
                "expected a line with the columns' names, found none",
            ));
        }
        let names: Vec<String> = record.iter().map(text_of).collect();
        let mut positions = Vec::new();
        for column in columns {
            let position = names.iter().position(|name| name == column).ok_or_else(|| {
                InputError::new(Place::line(&file.path, 1), format!("expected a column `{column}`, found none"))
                    .hint(format!("there are {}", names.join(", ")))
            })?;
            positions.push(position);
        }
        // A record's end is told before the second half of CRLF.
        let end_of = |position: u64| {
            let rest = file.text.as_bytes().get((position as usize).saturating_sub(1)..).unwrap_or_default();
            position + u64::from(rest.starts_with(b"\r\n"))
        };
        let mut start = end_of(reader.position().byte());
        let header = slice(0, start);
        let mut records = Vec::new();
        while reader.read_byte_record(&mut record).map_err(fault)? {
            let end = end_of(reader.position().byte());
            let cells = positions.iter().map(|position| record.get(*position).map(text_of).unwrap_or_default());
            records.push(Record { cells: cells.collect(), text: slice(start, end) });
            start = end;
        }
        Ok(CsvFile { header, records })
    }

    /// The file with these records only, in this order.
    pub(super) fn with(&self, records: impl Iterator<Item = usize>) -> Vec<u8> {
        let kept = records.filter_map(|record| self.records.get(record)).map(|record| record.text.as_str());
        [self.header.as_str()].into_iter().chain(kept).collect::<String>().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CsvFile, String> {
        let file = TextFile { path: "f.csv".into(), text: text.to_string() };
        CsvFile::read(&file, Dialect::Commas, &["id", "kind"]).map_err(|error| error.to_string())
    }

    #[test]
    fn records_are_kept_byte_for_byte() {
        let first = "1,\"two\nlines, \"\"quoted\"\"\",a\r\n";
        let file = read(&format!("id,text,kind\r\n{first}2,\"a\rb\",b\r\n\r\n3,,c")).expect("read");
        let cells: Vec<&[String]> = file.records.iter().map(|record| record.cells.as_slice()).collect();
        assert_eq!(cells, [["1", "a"], ["2", "b"], ["3", "c"]]);
        assert_eq!(file.with([2, 0].into_iter()), format!("id,text,kind\r\n3,,c\n{first}").into_bytes());
        assert_eq!(file.with([1].into_iter()), b"id,text,kind\r\n2,\"a\rb\",b\r\n");
    }

    #[test]
    fn what_is_wrong_says_where() {
        assert_eq!(read("").err().as_deref(), Some("f.csv: expected a line with the columns' names, found none"));
        assert_eq!(read("id,sort\n1,a\n").err().as_deref(), Some("f.csv:1: expected a column `kind`, found none"));
        let error = read("id,kind\n1,a\n\"x\ny\",b,c\n").err();
        assert_eq!(error.as_deref(), Some("f.csv:3: expected a record of 2 cells, found 3"));
    }
}
