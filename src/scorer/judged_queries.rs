//! The judgements of all queries: TREC's qrels, BEIR's, or a Parquet table.

use std::collections::HashMap;
use std::path::Path;

use ragstage_stages::error::InputError;
use ragstage_stages::score::measures::{Judgements, Measure};
use rayon::prelude::*;

use super::decimal::decimal;
use super::faults::{Fault, Faults, unreadable};
use super::query_scorer::hash;
use super::words::{column, line_end, words};
use super::{read_file, run_parquet};

/// What to do about a grade that is none.
pub(super) const GRADE_HINT: &str = "0 is not relevant, 1 and more is";

/// The judged documents of one query.
#[derive(Debug, Default)]
pub struct JudgedQuery {
    /// The query.
    pub id: Vec<u8>,
    /// Its documents, each once, with their hashes and grades.
    pub documents: Vec<JudgedDocument>,
    /// How often each grade was given.
    pub judgements: Judgements,
}

impl JudgedQuery {
    /// The query of `judgements`, which are in the order of their documents, with what is wrong with them.
    fn of(mut judgements: Vec<Judgement>) -> (Self, Vec<Fault>) {
        let mut twins = Vec::new();
        for pair in judgements.windows(2) {
            let [first, second] = pair else { continue };
            if first.document == second.document {
                let message = format!(
                    "duplicate: document {} of query {} is judged here",
                    String::from_utf8_lossy(&first.document),
                    String::from_utf8_lossy(&first.query)
                );
                let (line, earlier) = (first.line.max(second.line), Some(first.line.min(second.line)));
                twins.push(Fault { line, column: None, message, earlier, hint: "keep the one that is meant" });
            }
        }
        let id = judgements.first_mut().map(|first| std::mem::take(&mut first.query)).unwrap_or_default();
        let grades = judgements.iter().map(|judgement| judgement.grade).collect();
        let document = |Judgement { document, grade, hash, .. }| JudgedDocument { hash, id: document, grade };
        let documents = judgements.into_iter().map(document).collect();
        (JudgedQuery { id, documents, judgements: grades }, twins)
    }
}

/// A judged document.
#[derive(Debug)]
pub struct JudgedDocument {
    /// Of its id.
    pub hash: u64,
    /// Its id.
    pub id: Vec<u8>,
    /// Its grade.
    pub grade: i64,
}

/// The judgements of all queries.
#[derive(Debug, Default)]
pub struct JudgedQueries {
    /// By id.
    queries: Vec<JudgedQuery>,
    index: HashMap<Vec<u8>, usize>,
}

/// A judgement as a file has it.
pub struct Judgement {
    /// The line or row, from 1.
    pub line: u64,
    /// The query.
    pub query: Vec<u8>,
    /// The document.
    pub document: Vec<u8>,
    /// The grade.
    pub grade: i64,
    /// Of the document's id.
    hash: u64,
}

impl Judgement {
    /// The judgement of line or row `line`.
    pub fn new(line: u64, query: Vec<u8>, document: Vec<u8>, grade: i64) -> Self {
        let hash = hash(&document);
        Judgement { line, query, document, grade, hash }
    }
}

/// Bytes that one thread parses at once.
const PART: usize = 1 << 19;

impl JudgedQueries {
    /// Reads four columns `query iteration document grade` between any white space (TREC), three columns below the header
    /// `query-id corpus-id score` (BEIR), or a Parquet table with the columns `query_id`, `doc_id` and `grade`.
    ///
    /// # Errors
    /// All that is wrong with the file, with line and column. A document that is judged twice for one query is refused, as by
    /// trec_eval.
    pub fn read(path: &Path) -> Result<Self, Vec<InputError>> {
        let table = run_parquet::is_parquet(path).map_err(|error| unreadable(path, &error))?;
        let mut faults = if table { Faults::of_table(path) } else { Faults::of(path) };
        let judgements = if table {
            run_parquet::judgements(path)?
        } else {
            let bytes = read_file::read(path)?;
            parse(&bytes, &mut faults)
        };
        let read = JudgedQueries::of(judgements, &mut faults);
        if faults.is_empty() && read.queries.is_empty() {
            let hint = "TREC's qrels have four columns: query, iteration, document, grade";
            let message = "expected judgements, found none".to_string();
            faults.add(Fault { line: 1, column: None, message, earlier: None, hint }, 0);
        }
        if faults.is_empty() { Ok(read) } else { Err(faults.into_errors()) }
    }

    fn of(mut judgements: Vec<Judgement>, faults: &mut Faults) -> Self {
        judgements.par_sort_unstable_by(|a, b| a.query.cmp(&b.query).then_with(|| a.document.cmp(&b.document)));
        let mut by_query: Vec<Vec<Judgement>> = Vec::new();
        for judgement in judgements {
            match by_query.last_mut().filter(|query| query.first().is_some_and(|first| first.query == judgement.query))
            {
                Some(query) => query.push(judgement),
                None => by_query.push(vec![judgement]),
            }
        }
        let found: Vec<(JudgedQuery, Vec<Fault>)> = by_query.into_par_iter().map(JudgedQuery::of).collect();
        let mut queries = Vec::with_capacity(found.len());
        for (query, twins) in found {
            queries.push(query);
            twins.into_iter().for_each(|fault| faults.add(fault, 0));
        }
        let index = queries.iter().enumerate().map(|(i, query)| (query.id.clone(), i)).collect();
        JudgedQueries { queries, index }
    }

    /// All queries, by id.
    pub fn queries(&self) -> &[JudgedQuery] {
        &self.queries
    }

    /// The place of a query.
    pub fn place(&self, query: &[u8]) -> Option<usize> {
        self.index.get(query).copied()
    }

    /// The queries for whose judgements `measure` is not defined, with the reasons.
    pub fn undefined(&self, measure: &dyn Measure) -> Vec<(String, String)> {
        let Some(bound) = measure.bound() else { return Vec::new() };
        let text = |id: &[u8]| String::from_utf8_lossy(id).into_owned();
        let reason = |query: &JudgedQuery| {
            let judged =
                query.documents.iter().map(|judged| (format!("document {:?}", text(&judged.id)), judged.grade));
            Some((text(&query.id), bound.fault(&query.judgements, judged)?))
        };
        self.queries.iter().filter_map(reason).collect()
    }
}

/// What a part of a file says, its lines counted from its first.
#[derive(Default)]
struct Part {
    judgements: Vec<Judgement>,
    lines: u64,
    faults: Vec<Fault>,
    more_faults: u64,
}

fn parse(bytes: &[u8], faults: &mut Faults) -> Vec<Judgement> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.get(..line_end(bytes, 0)).unwrap_or_default();
    let cells: Vec<(usize, &[u8])> = words(first).collect();
    let header = is_header(&cells);
    let start = if header { bytes.len().min(first.len() + 1) } else { 0 };
    let rest = bytes.get(start..).unwrap_or_default();
    let parts: Vec<Part> = parts(rest, PART).into_par_iter().map(|part| parse_part(part, header)).collect();
    let mut judgements = Vec::with_capacity(parts.iter().map(|part| part.judgements.len()).sum());
    let mut before = u64::from(header);
    for part in parts {
        let placed = |judgement: Judgement| Judgement { line: before + judgement.line, ..judgement };
        judgements.extend(part.judgements.into_iter().map(placed));
        part.faults.into_iter().for_each(|fault| faults.add(fault, before));
        faults.count(part.more_faults);
        before += part.lines;
    }
    judgements
}

/// The parts of `bytes` of at least `size`, each but the last ending with a line.
fn parts(bytes: &[u8], size: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.len().min(line_end(rest, size.min(rest.len())) + 1);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

fn parse_part(bytes: &[u8], header: bool) -> Part {
    let mut part = Part::default();
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        let line = bytes.get(at..end).unwrap_or_default();
        at = end + 1;
        part.lines += 1;
        match parse_line(line, part.lines, header) {
            Ok(judgement) => part.judgements.extend(judgement),
            Err(fault) if part.faults.len() < Faults::MOST => part.faults.push(fault),
            Err(_) => part.more_faults += 1,
        }
    }
    part
}

/// The judgement of a line; a blank one has none.
fn parse_line(line: &[u8], number: u64, header: bool) -> Result<Option<Judgement>, Fault> {
    const COLUMNS: usize = 4;
    let mut cells = [(0, &[][..]); COLUMNS];
    let mut found = 0;
    let mut surplus = line.len();
    let wanted = if header { 3 } else { COLUMNS };
    for (at, word) in words(line) {
        if found == wanted {
            surplus = surplus.min(at);
        }
        if let Some(cell) = cells.get_mut(found) {
            *cell = (at, word);
        }
        found += 1;
    }
    if found == 0 {
        return Ok(None);
    }
    if found != wanted {
        let expected = match header {
            true => "3 columns (query-id corpus-id score)",
            false => "4 columns (query iteration document grade)",
        };
        return Err(Fault {
            line: number,
            column: Some(column(line, surplus)),
            message: format!("expected {expected}, found {found}"),
            earlier: None,
            hint: "columns stand between blanks or tabs; three columns need the header `query-id corpus-id score`",
        });
    }
    let [(_, query), second, third, fourth] = cells;
    let ((_, document), (at, grade)) = if header { (second, third) } else { (third, fourth) };
    match decimal(grade).and_then(whole_grade) {
        Some(grade) => Ok(Some(Judgement::new(number, query.to_vec(), document.to_vec(), grade))),
        None => Err(Fault {
            line: number,
            column: Some(column(line, at)),
            message: format!("expected a whole number as grade, found {:?}", String::from_utf8_lossy(grade)),
            earlier: None,
            hint: GRADE_HINT,
        }),
    }
}

/// The grade that a number is; `None` where it is no whole one that a double tells from its neighbours.
pub(super) fn whole_grade(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
}

fn is_header(cells: &[(usize, &[u8])]) -> bool {
    let names: Vec<String> =
        cells.iter().map(|(_, cell)| String::from_utf8_lossy(cell).to_lowercase().replace('_', "-")).collect();
    names == ["query-id", "corpus-id", "score"]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query with its documents and their grades.
    type Query = (String, Vec<(String, i64)>);

    fn read(text: &str) -> Result<Vec<Query>, Vec<String>> {
        let mut faults = Faults::of(Path::new("q"));
        let judgements = parse(text.as_bytes(), &mut faults);
        let read = JudgedQueries::of(judgements, &mut faults);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match faults.is_empty() {
            true => Ok(read
                .queries()
                .iter()
                .map(|query| (text(&query.id), query.documents.iter().map(|d| (text(&d.id), d.grade)).collect()))
                .collect()),
            false => Err(faults.into_errors().iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn parts_are_the_whole_and_end_with_lines() {
        for text in ["", "\n", "a", "a\nbb\n\nccc\n", "a\nbb\n\nccc", "\n\n\n"] {
            for size in [0, 1, 2, 3, 100] {
                let parts = parts(text.as_bytes(), size);
                assert_eq!(parts.concat(), text.as_bytes(), "{size}");
                let last = parts.len().saturating_sub(1);
                assert!(parts.iter().take(last).all(|part| part.ends_with(b"\n")), "{text:?} {size}");
                assert!(parts.iter().all(|part| !part.is_empty()));
            }
        }
    }

    #[test]
    fn faults_of_all_parts_have_their_lines() {
        let mut text = "q1 0 document 1\n".repeat(2 * PART / 16);
        let lines = text.lines().count();
        text += "q1 0 a\n";
        text.insert_str(0, "q1 0 first\n");
        let told = read(&text).expect_err("faults");
        assert!(told[0].starts_with("q:1:11: expected 4 columns"), "{}", told[0]);
        assert!(told.iter().any(|fault| fault.starts_with(&format!("q:{}:7: expected 4 columns", lines + 2))));
    }

    #[test]
    fn both_layouts_give_the_same() {
        let expected = vec![
            ("q1".to_string(), vec![("a".to_string(), 1), ("b".to_string(), -1)]),
            ("q2".to_string(), vec![("a".to_string(), 2)]),
        ];
        assert_eq!(read("q2 0 a 2\r\n\nq1\t0\tb  -1\nq1 Q0 a 1"), Ok(expected.clone()));
        assert_eq!(read("query-id\tcorpus-id\tscore\nq1\ta\t1.0\nq2\ta\t2\nq1\tb\t-1\n"), Ok(expected));
    }

    #[test]
    fn faults_have_line_and_column() {
        let told = read("q1 0 a 1\nq1 a 1\nq1 0 é high\nq1 0 b 1 x\nq1 0 a 2\n").expect_err("faults");
        assert_eq!(
            told,
            [
                "q:2:7: expected 4 columns (query iteration document grade), found 3",
                "q:3:8: expected a whole number as grade, found \"high\"",
                "q:4:10: expected 4 columns (query iteration document grade), found 5",
                "q:5: duplicate: document a of query q1 is judged here, and in line 1",
            ]
        );
    }
}
