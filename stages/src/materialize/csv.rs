//! CSV and its relatives: a record is a line in which each value stands behind the name of its column.

use csv::{ReaderBuilder, StringRecord};
use thiserror::Error;

use super::parser::Parsed;
use crate::artifact::Page;

/// The delimiters that are told apart, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How many records decide which delimiter it is.
const LOOKED_AT: usize = 100;

/// The reader gave up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the table cannot be read: {0}")]
pub(super) struct CsvError(String);

/// One page with a line for each record: `Name: Ann; City: Oslo`, so that a line can be understood alone.
///
/// The first record names the columns, unless all of it is numbers; a column without a name goes by its number. Empty values
/// are left out. A record may have any number of values: this is a document, so what it has is read.
///
/// `is_tabbed` says that the values are known to stand between tabs; else the delimiter is found out.
///
/// # Errors
/// When a record is of more bytes or values than the reader can count.
pub(super) fn parse(text: &str, is_tabbed: bool) -> Result<Parsed, CsvError> {
    let (declared, text) = declared_delimiter(text);
    let delimiter = match declared {
        Some(delimiter) => delimiter,
        None if is_tabbed => b'\t',
        None => delimiter(text),
    };
    let mut records = records(text, delimiter);
    let mut lines: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut record = StringRecord::new();
    let mut is_first = true;
    while records.read_record(&mut record).map_err(|error| CsvError(error.to_string()))? {
        if std::mem::take(&mut is_first) && !is_data(&record) {
            names = record.iter().map(one_line).collect();
            continue;
        }
        let values = record.iter().map(one_line).enumerate().filter(|(_, value)| !value.is_empty());
        let named = values.map(|(column, value)| match names.get(column).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name}: {value}"),
            None => format!("column {}: {value}", column + 1),
        });
        let line = named.collect::<Vec<_>>().join("; ");
        if !line.is_empty() {
            lines.push(line);
        }
    }
    // A table without records is its names.
    if lines.is_empty() && !names.is_empty() {
        lines.push(names.join("; "));
    }
    let page = Page { index: 0, text: lines.join("\n"), headings: Vec::new() };
    Ok(Parsed { title: None, pages: vec![page], encoding: None })
}

/// The delimiter that a first line `sep=;` names, as spreadsheets write and read it, and the text after that line.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    match line.strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

fn records(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// The delimiter with which the most records have as many values as most have; of equals the one with more values.
fn delimiter(text: &str) -> u8 {
    let score = |delimiter: u8| -> (usize, usize) {
        let sizes: Vec<usize> = records(text, delimiter)
            .records()
            .take(LOOKED_AT)
            .map_while(Result::ok)
            .map(|record| record.len())
            .collect();
        let alike = |size: usize| sizes.iter().filter(|other| **other == size).count();
        let several = sizes.iter().copied().filter(|size| *size > 1);
        several.map(|size| (alike(size), size)).max().unwrap_or((0, 0))
    };
    // The first of equals is the likeliest.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}

/// Whether a first record is data: it names nothing when every value that it has is a number.
fn is_data(record: &StringRecord) -> bool {
    let mut values = record.iter().map(str::trim).filter(|value| !value.is_empty()).peekable();
    values.peek().is_some() && values.all(|value| value.replace([',', '%', '$', '€'], "").trim().parse::<f64>().is_ok())
}

/// A value on one line.
fn one_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(csv: &str) -> String {
        parse(csv, false).expect("a table").pages.remove(0).text
    }

    #[test]
    fn a_record_is_a_line_with_the_names_of_the_columns() {
        assert_eq!(
            text("Name,City,Note\nAnn,Oslo,\n\"Berg, Bo\",\"New\nYork\",\"said \"\"hi\"\"\"\n"),
            "Name: Ann; City: Oslo\nName: Berg, Bo; City: New York; Note: said \"hi\""
        );
    }

    #[test]
    fn the_delimiter_is_found_out() {
        for delimiter in [',', ';', '\t', '|'] {
            let csv = "a,b\n1,x\n2,y\n".replace(',', &delimiter.to_string());
            assert_eq!(text(&csv), "a: 1; b: x\na: 2; b: y", "{delimiter:?}");
        }
        // Commas in the values are no delimiter when another one fits every record.
        assert_eq!(text("name;sum\nA, B;1,5\nC, D, E;2\n"), "name: A, B; sum: 1,5\nname: C, D, E; sum: 2");
        assert_eq!(text("sep=|\na|b,c\n1|2\n"), "a: 1; b,c: 2");
        assert_eq!(parse("a,b\tc\n1,2\t3\n", true).expect("a table").pages[0].text, "a,b: 1,2; c: 3");
    }

    #[test]
    fn ragged_records_and_columns_without_a_name() {
        assert_eq!(text("a,,c\n1,2,3,4\n5\n\n,,\n"), "a: 1; column 2: 2; c: 3; column 4: 4\na: 5");
        assert_eq!(
            text("2020,1.5\n2021,\"1,600\"\n"),
            "column 1: 2020; column 2: 1.5\ncolumn 1: 2021; column 2: 1,600"
        );
    }

    #[test]
    fn one_column_no_records_and_nothing() {
        assert_eq!(text("word\nhello there\n"), "word: hello there");
        assert_eq!(text("a,b\n"), "a; b");
        assert_eq!(text(""), "");
    }
}
