//! Relevance judgements of a BEIR folder (spec/heta 4.2), in BEIR's three columns or in TREC's four.

use std::collections::{HashMap, HashSet};

use super::lines::{Line, SourceBytes, lines};
use super::whitespace::{is_whitespace, strip};
use crate::error::{InputError, Place};

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
        let lines = lines(source.path, &bytes, errors);
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

    fn add(&mut self, query: &str, judgement: Judgement) {
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
    /// A file whose every row has four cells is TREC's; a header on line 1 is BEIR's.
    fn of(lines: &[Line<'_>]) -> Self {
        let header = lines.first().is_some_and(|line| line.number == 1 && is_header(line.text));
        if !header && !lines.is_empty() && lines.iter().all(|line| trec_cells(line.text).is_some()) {
            Layout::Trec
        } else {
            Layout::Beir { header }
        }
    }
}

fn is_header(text: &str) -> bool {
    let cells: Vec<String> = strip(text).split('\t').take(3).map(|cell| strip(cell).to_lowercase()).collect();
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('_', "-")).collect();
    cells == ["query-id", "corpus-id", "score"]
}

/// The four cells of a row of TREC's. Ids of BEIR's may hold blanks, so three cells between tabs are not looked into.
fn trec_cells(text: &str) -> Option<[&str; 4]> {
    let tabs: Vec<&str> = strip(text).split('\t').map(strip).collect();
    match tabs.as_slice() {
        [query, iteration, document, grade] => Some([query, iteration, document, grade]),
        [_, _, _] => None,
        _ => {
            let words: Vec<&str> = text.split(is_whitespace).filter(|word| !word.is_empty()).collect();
            words.try_into().ok()
        }
    }
}

fn judgement<'a>(source: SourceBytes<'_>, layout: Layout, line: &Line<'a>) -> Result<(&'a str, Judgement), InputError> {
    let error = |message: String| InputError::new(Place::line(source.path, line.number), message);
    let (query, document, grade) = match (layout, trec_cells(line.text)) {
        (Layout::Trec, Some([query, _, document, grade])) => (query, document, grade),
        (Layout::Beir { header: false }, Some(_)) => {
            return Err(error("four columns, while other rows have not; expected three in every row".to_string())
                .hint("BEIR has query, document and score; TREC has query, 0, document and grade in every row"));
        }
        _ => {
            let cells: Vec<&str> = strip(line.text).split('\t').map(strip).collect();
            match cells.as_slice() {
                // A file with a header may have further columns.
                [query, document, grade, ..] => (*query, *document, *grade),
                cells => {
                    let error = error(format!(
                        "expected query-id, corpus-id and score, found {} {}",
                        cells.len(),
                        if cells.len() == 1 { "column" } else { "columns" }
                    ));
                    return Err(error.hint("columns are separated by tabs"));
                }
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
    let grade = whole(grade).map_err(|why| error(format!("score {grade:?} {why}")))?;
    Ok((query, Judgement { document: document.to_string(), grade }))
}

/// A score as a grade: truncated toward zero, as the reference system does.
fn whole(text: &str) -> Result<i64, &'static str> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match text.parse::<f64>() {
        Err(_) => Err("is no number"),
        Ok(value) if !value.is_finite() => Err("is not finite"),
        Ok(value) if value.abs() > EXACT => Err("is too large for a grade"),
        Ok(value) => Ok(value.trunc() as i64),
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
            read("\u{feff}Query_ID\tcorpus-id\tscore\textra\r\nq1\tr 2\t3.9\tx\r\n\n q1\tr1\t-1.5 \nq1\tr 2\t1\n");
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(of(&qrels, "q1"), [("r 2".to_string(), 1), ("r1".to_string(), -1)]);
        assert!(qrels.of("q2").is_none());
    }

    #[test]
    fn trec_rows_are_read_whatever_separates_them() {
        for text in ["q\t0\t12\t2\nq\t0\t13\t0\n", "q 0 12 2\nq  Q0  13  0\n", "q 0\t12 2\nq\t0\t13\t0\n"] {
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
    fn a_torn_trec_file_is_not_misread() {
        let (_, errors) = read("q\t0\t12\t2\nq\t0\t13\n");
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with("q.tsv:1: four columns"), "{errors:?}");
    }
}
