//! Lines of a TREC run file: `query Q0 document rank score tag` between any white space.

use super::decimal::decimal;
use super::faults::{Fault, Faults};
use super::rows::{Rows, Segment, rank_key};
use super::words::{blanks_end, column, line_end, word_end, words};

/// What some lines of a run file say.
#[derive(Debug, Default)]
pub struct RunText {
    /// The rows, placed by bytes of the text.
    pub rows: Rows,
    /// How many lines there are.
    pub lines: u64,
    /// What is wrong with some of them.
    pub faults: Vec<Fault>,
    /// How many more lines are wrong.
    pub more_faults: u64,
}

const HINT: &str = "a line of a run is `query Q0 document rank score tag`, as trec_eval reads it";

impl RunText {
    /// Reads whole lines.
    pub fn read(&mut self, text: &[u8]) {
        self.rows.clear();
        self.faults.clear();
        (self.lines, self.more_faults) = (0, 0);
        let mut at = 0;
        while at < text.len() {
            self.lines += 1;
            let start = at;
            match self.row(text, start) {
                Some(end) => at = end + 1,
                None => {
                    at = line_end(text, start) + 1;
                    let line = text.get(start..at - 1).unwrap_or_default();
                    if let Some(fault) = fault(line, self.lines) {
                        if self.faults.len() < Faults::MOST {
                            self.faults.push(fault);
                        } else {
                            self.more_faults += 1;
                        }
                    }
                }
            }
        }
    }

    /// Reads the row at `start` and gives the end of its line; `None` where it is none, or a blank line.
    #[inline]
    fn row(&mut self, text: &[u8], start: usize) -> Option<usize> {
        let query_start = blanks_end(text, start);
        let query_end = word_end(text, query_start);
        let second = blanks_end(text, query_end);
        let document_start = blanks_end(text, word_end(text, second));
        let document_end = word_end(text, document_start);
        let rank = blanks_end(text, document_end);
        let score_start = blanks_end(text, word_end(text, rank));
        let score_end = word_end(text, score_start);
        let tag_start = blanks_end(text, score_end);
        let tag_end = word_end(text, tag_start);
        let end = blanks_end(text, tag_end);
        // An empty last word means that the line has too few.
        if tag_start == tag_end || text.get(end).is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        let score = decimal(text.get(score_start..score_end)?).filter(|score| !score.is_nan())?;
        let row = self.rows.keys.len();
        let query = text.get(query_start..query_end)?;
        match self.rows.segments.last_mut().filter(|last| text.get(last.query.clone()) == Some(query)) {
            Some(segment) => segment.rows.end = row + 1,
            None => self.rows.segments.push(Segment { query: query_start..query_end, rows: row..row + 1 }),
        }
        self.rows.keys.push(rank_key(score));
        self.rows.ids.push((u32::try_from(document_start).ok()?, u32::try_from(document_end).ok()?));
        self.rows.lines.push(u32::try_from(self.lines).unwrap_or(u32::MAX));
        Some(end)
    }
}

/// What is wrong with a line; nothing if it is blank.
fn fault(line: &[u8], number: u64) -> Option<Fault> {
    let cells: Vec<(usize, &[u8])> = words(line).collect();
    if cells.is_empty() {
        return None;
    }
    let (at, message) = match cells.as_slice() {
        [_, _, _, _, score, _] => {
            (score.0, format!("expected a number as score, found {:?}", String::from_utf8_lossy(score.1)))
        }
        cells => {
            let surplus = cells.get(6).map_or(line.len(), |(at, _)| *at);
            (surplus, format!("expected 6 columns (query Q0 document rank score tag), found {}", cells.len()))
        }
    };
    Some(Fault { line: number, column: Some(column(line, at)), message, earlier: None, hint: HINT })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(String, String, u32)>, Vec<String>) {
        let mut run = RunText::default();
        run.read(text.as_bytes());
        let rows = &run.rows;
        let found = rows.segments.iter().flat_map(|segment| {
            segment.rows.clone().map(|row| {
                let (start, end) = rows.ids[row];
                let document = text[start as usize..end as usize].to_string();
                (text[segment.query.clone()].to_string(), document, rows.lines[row])
            })
        });
        let faults = run.faults.iter().map(|f| format!("{}:{}: {}", f.line, f.column.unwrap_or(0), f.message));
        (found.collect(), faults.collect())
    }

    #[test]
    fn columns_stand_between_any_white_space() {
        let (rows, faults) = read("q1 Q0 a 1 10.0 t\r\n\n  q1\tQ0\t b 2 9.5\tt  \nq2 0 a 1 -1e3 t");
        let expected = [("q1", "a", 1), ("q1", "b", 3), ("q2", "a", 4)];
        assert_eq!(rows, expected.map(|(q, d, line)| (q.to_string(), d.to_string(), line)));
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn every_bad_line_is_told() {
        let (rows, faults) = read("q1 Q0 a 1 10.0\nq1 Q0 é 2 ten t\nq1 Q0 c 3 1 t t\nq1 Q0 d 4 nan t\nq1 Q0 e 5 1 t\n");
        assert_eq!(rows.len(), 1);
        assert_eq!(
            faults,
            [
                "1:15: expected 6 columns (query Q0 document rank score tag), found 5",
                "2:11: expected a number as score, found \"ten\"",
                "3:15: expected 6 columns (query Q0 document rank score tag), found 7",
                "4:11: expected a number as score, found \"nan\"",
            ]
        );
    }
}
