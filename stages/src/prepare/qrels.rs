//! Relevance judgements of a BEIR folder (spec/heta 4.2), in BEIR's three columns or in TREC's four.

use std::collections::{HashMap, HashSet};

use super::lines::{Line, LineEnds, SourceBytes, lines};
use crate::error::{InputError, Place};
use crate::python::{decimal, is_whitespace, strip};

/// One judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    /// The dataset's id of the document.
    pub document: String,
    /// The grade; zero and below mean that the document was found not relevant.
    pub grade: i64,
}

/// The judgements of every query, in file order. A later line on the same query and document overwrites the earlier one in
/// its place.
#[derive(Debug, Default)]
pub(super) struct Qrels {
    queries: HashMap<String, QueryQrels>,
}

#[derive(Debug, Default)]
struct QueryQrels {
    judgements: Vec<Judgement>,
    places: HashMap<String, usize>,
}

/// The columns of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// `query-id TAB corpus-id TAB score`.
    Beir {
        /// Whether line 1 names the columns.
        header: bool,
    },
    /// `query iteration document grade`, separated by tabs or blanks, as `trec_eval` reads it. The reference system misreads
    /// it (spec/heta 9, bug 25).
    Trec,
}

impl Qrels {
    /// Reads `source`.
    pub(super) fn read(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Self {
        let mut qrels = Qrels::default();
        let bytes = match source.unpacked() {
            Ok(bytes) => bytes,
            Err(error) => {
                errors.push(error);
                return qrels;
            }
        };
        let lines = lines(source.path, &bytes, LineEnds::Plain, errors);
        let layout = Layout::of(&lines);
        for line in &lines {
            if layout == (Layout::Beir { header: true }) && line.number == 1 {
                continue;
            }
            match judgement(source, layout, line) {
                Ok((query, judgement)) => qrels.add(query, judgement),
                Err(error) => errors.push(error),
            }
        }
        qrels
    }

    /// The judgements of `query` in file order; `None` where it has no line.
    pub(super) fn of(&self, query: &str) -> Option<&[Judgement]> {
        self.queries.get(query).map(|query| query.judgements.as_slice())
    }

    /// Some query that is judged, for messages.
    pub(super) fn example(&self) -> Option<&str> {
        self.queries.keys().map(String::as_str).min()
    }

    /// How many judgements are of a query that is none of `queries`.
    pub(super) fn without(&self, queries: &HashSet<&str>) -> usize {
        let strays = self.queries.iter().filter(|(query, _)| !queries.contains(query.as_str()));
        strays.map(|(_, query)| query.judgements.len()).sum()
    }

    /// Every query that is judged, in no order.
    pub(super) fn queries(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// Adds a judgement of `query`.
    pub(super) fn add(&mut self, query: &str, judgement: Judgement) {
        let query = match self.queries.get_mut(query) {
            Some(query) => query,
            None => self.queries.entry(query.to_string()).or_default(),
        };
        match query.places.get(&judgement.document).and_then(|&place| query.judgements.get_mut(place)) {
            Some(earlier) => *earlier = judgement,
            None => {
                query.places.insert(judgement.document.clone(), query.judgements.len());
                query.judgements.push(judgement);
            }
        }
    }
}

impl Layout {
    /// A header on line 1 is BEIR's. Without one it is TREC's file if the second cell of every row is an iteration, and there
    /// is a fourth; a row that then has not four is torn, for as BEIR's it would judge a document called `0`.
    fn of(lines: &[Line<'_>]) -> Self {
        if lines.first().is_some_and(|line| line.number == 1 && is_header(line.text)) {
            return Layout::Beir { header: true };
        }
        let mut fourth = false;
        for line in lines {
            let cells = trec_cells(line.text);
            if !cells.get(1).is_some_and(|cell| matches!(*cell, "0" | "Q0" | "q0")) {
                return Layout::Beir { header: false };
            }
            fourth |= cells.len() == 4;
        }
        if fourth { Layout::Trec } else { Layout::Beir { header: false } }
    }
}

/// Whether `text` names the columns of a BEIR folder's judgements.
pub(super) fn is_header(text: &str) -> bool {
    let cells: Vec<String> = strip(text).split('\t').take(3).map(|cell| strip(cell).to_lowercase()).collect();
    cells == ["query-id", "corpus-id", "score"] || cells == ["query_id", "corpus_id", "score"]
}

/// The cells of a row of TREC's. Ids of BEIR's may hold blanks, so three cells between tabs are not looked into.
fn trec_cells(text: &str) -> Vec<&str> {
    let tabs: Vec<&str> = tab_cells(text);
    if tabs.len() >= 3 { tabs } else { text.split(is_whitespace).filter(|word| !word.is_empty()).collect() }
}

fn tab_cells(text: &str) -> Vec<&str> {
    strip(text).split('\t').map(strip).collect()
}

fn judgement<'a>(source: SourceBytes<'_>, layout: Layout, line: &Line<'a>) -> Result<(&'a str, Judgement), InputError> {
    let error = |message: String| InputError::new(Place::line(source.path, line.number), message);
    let wrong = |expected: &str, found: usize| {
        let columns = if found == 1 { "column" } else { "columns" };
        error(format!("expected {expected}, found {found} {columns}"))
    };
    let (query, document, grade) = if layout == Layout::Trec {
        match trec_cells(line.text).as_slice() {
            [query, _, document, grade] => (*query, *document, *grade),
            cells => return Err(wrong("query, 0, document and grade as in the other rows", cells.len())),
        }
    } else {
        match tab_cells(line.text).as_slice() {
            // Further cells are notes.
            [query, document, grade, ..] => (*query, *document, *grade),
            cells => {
                let error = wrong("query-id, corpus-id and score", cells.len());
                return Err(error.hint("columns are separated by tabs"));
            }
        }
    };
    if query.is_empty() || document.is_empty() {
        let which = if query.is_empty() { "query-id" } else { "corpus-id" };
        return Err(error(format!("{which} is blank")));
    }
    if is_header(line.text) {
        return Err(error("a header after the first line".to_string())
            .hint("the header belongs on line 1, with no blank line before it"));
    }
    let grade = whole(grade).map_err(|why| {
        let error = error(format!("score {grade:?} {why}"));
        if grade.eq_ignore_ascii_case("score") {
            return error
                .hint("a header is `query-id`, `corpus-id` and `score`, or `query_id`, `corpus_id` and `score`");
        }
        error
    })?;
    Ok((query, Judgement { document: document.to_string(), grade }))
}

/// A score as a grade: truncated toward zero, as the reference system does.
pub(super) fn whole(text: &str) -> Result<i64, &'static str> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match decimal(text).and_then(|text| text.parse::<f64>().ok()) {
        None => Err("is no number"),
        Some(value) if !value.is_finite() => Err("is not finite"),
        Some(value) if value.abs() > EXACT => Err("is too large for a grade"),
        Some(value) => Ok(value.trunc() as i64),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> (Qrels, Vec<String>) {
        let mut errors = Vec::new();
        let qrels = Qrels::read(SourceBytes { path: Path::new("q.tsv"), bytes: text.as_bytes() }, &mut errors);
        (qrels, errors.iter().map(ToString::to_string).collect())
    }

    fn of(qrels: &Qrels, query: &str) -> Vec<(String, i64)> {
        qrels.of(query).unwrap_or_default().iter().map(|j| (j.document.clone(), j.grade)).collect()
    }

    #[test]
    fn beir_rows_are_read() {
        let (qrels, errors) =
            read("\u{feff}Query_ID\tcorpus_id\tscore\textra\r\nq1\tr 2\t3.9\tx\r\n\n q1\tr1\t-1.5 \nq1\tr 2\t1\n");
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(of(&qrels, "q1"), [("r 2".to_string(), 1), ("r1".to_string(), -1)]);
        assert!(qrels.of("q2").is_none());
    }

    #[test]
    fn trec_rows_are_read_whatever_separates_them() {
        for text in ["q\t0\t12\t2\nq\t0\t13\t0\n", "q 0 12 2\nq  Q0  13  0\n", "q 0\t12 2\nq\tq0\t13\t0\n"] {
            let (qrels, errors) = read(text);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(of(&qrels, "q"), [("12".to_string(), 2), ("13".to_string(), 0)]);
        }
    }

    #[test]
    fn ids_with_blanks_between_tabs_are_no_fourth_column() {
        let (qrels, errors) = read("q 1\ta\t1\nq 1\tb\t0\n");
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(of(&qrels, "q 1"), [("a".to_string(), 1), ("b".to_string(), 0)]);
    }

    #[test]
    fn every_bad_row_is_told() {
        let (_, errors) =
            read("\nquery-id\tcorpus-id\tscore\nq\ta\nq\ta\thigh\nq\t \t1\nq\ta\tinf\nq a 1\nq\ta\t1e300\n");
        assert_eq!(
            errors,
            [
                "q.tsv:2: a header after the first line",
                "q.tsv:3: expected query-id, corpus-id and score, found 2 columns",
                "q.tsv:4: score \"high\" is no number",
                "q.tsv:5: corpus-id is blank",
                "q.tsv:6: score \"inf\" is not finite",
                "q.tsv:7: expected query-id, corpus-id and score, found 1 column",
                "q.tsv:8: score \"1e300\" is too large for a grade",
            ]
        );
    }

    #[test]
    fn a_mixed_header_is_none() {
        let (_, errors) = read("query-id\tcorpus_id\tscore\nq\ta\t1\n");
        assert_eq!(errors, ["q.tsv:1: score \"score\" is no number"]);
    }

    #[test]
    fn further_cells_are_notes_unless_the_second_is_an_iteration_everywhere() {
        for text in ["q\ta\t1\t7\nq\tb\t2\tnote\n", "q\ta\t1\t7\nq\tb\t2\t\n", "q\ta\t1\nq\tb\t2\t3\t4\n"] {
            let (qrels, errors) = read(text);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(of(&qrels, "q"), [("a".to_string(), 1), ("b".to_string(), 2)], "{text:?}");
        }
        let (qrels, errors) = read("query-id\tcorpus-id\tscore\tx\nq\t0\t12\t2\n");
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(of(&qrels, "q"), [("0".to_string(), 12)]);
    }

    #[test]
    fn a_torn_trec_file_is_not_misread() {
        let (_, errors) = read("q\t0\t12\t2\nq\t0\t13\n");
        assert_eq!(errors, ["q.tsv:2: expected query, 0, document and grade as in the other rows, found 3 columns"]);
    }
}
