//! A piece of a run: some rows with their ids, and what scoring them gives.

use ragstage_stages::score::measures::Measure;

use super::faults::{Fault, Faults};
use super::judged_queries::JudgedQueries;
use super::query_scorer::{QueryScorer, Twins};
use super::rows::Rows;
use super::run_scores::{RunScores, Scattered};

/// Some rows of a run.
pub struct Piece<'a, D> {
    /// The rows.
    pub rows: &'a Rows,
    /// The bytes that the segments' queries are ranges of.
    pub queries: &'a [u8],
    /// The document id of a row.
    pub document: D,
}

/// What scoring a piece gives.
#[derive(Debug, Default)]
pub struct PieceScores {
    /// A judged query's place, or the id of one that is not judged.
    queries: Vec<Result<usize, Box<[u8]>>>,
    /// Values of the judged ones, measure by measure.
    values: Vec<f64>,
    rows: u64,
    /// Lines of the piece.
    pub lines: u64,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// How much more is wrong.
    pub more_faults: u64,
}

impl<'a, D: Fn(usize) -> &'a [u8]> Piece<'a, D> {
    /// Scores every segment as if there were no other of its query.
    pub fn score(&self, scorer: &mut QueryScorer, queries: &JudgedQueries, measures: &[&dyn Measure]) -> PieceScores {
        let mut scores = PieceScores { rows: self.rows.keys.len() as u64, ..PieceScores::default() };
        for segment in &self.rows.segments {
            let first = segment.rows.start;
            let name = self.queries.get(segment.query.clone()).unwrap_or_default();
            let keys = self.rows.keys.get(segment.rows.clone()).unwrap_or_default();
            let document = |row: usize| (self.document)(first + row);
            let place = queries.place(name);
            let judged = place.and_then(|place| queries.queries().get(place));
            let checked = match judged {
                Some(query) => scorer.score(query, measures, keys, document, &mut scores.values),
                None => scorer.check(keys.len(), document),
            };
            if let Err(twins) = checked {
                let line = |row: usize| self.rows.lines.get(first + row).copied().unwrap_or(0).into();
                scores.faults.push(twin(twins, name, document(twins.second), line));
                continue;
            }
            scores.queries.push(place.ok_or_else(|| name.into()));
        }
        scores
    }
}

/// A document that stands twice.
pub fn twin(twins: Twins, query: &[u8], document: &[u8], line: impl Fn(usize) -> u64) -> Fault {
    let (query, document) = (String::from_utf8_lossy(query), String::from_utf8_lossy(document));
    Fault {
        line: line(twins.second),
        column: None,
        message: format!("duplicate: document {document} of query {query} is here"),
        earlier: Some(line(twins.first)),
        hint: "each document once per query, as trec_eval wants it: keep the one that is meant",
    }
}

impl PieceScores {
    /// Adds this to the scores of the run, of which `before` lines came before.
    ///
    /// # Errors
    /// When a query was there before.
    pub fn add(
        self,
        before: u64,
        measures: usize,
        scores: &mut RunScores,
        faults: &mut Faults,
    ) -> Result<(), Scattered> {
        for fault in self.faults {
            faults.add(fault, before);
        }
        faults.count(self.more_faults);
        scores.rows += self.rows;
        let mut values = self.values.as_slice();
        for query in self.queries {
            match query {
                Ok(place) => {
                    let (own, rest) = values.split_at_checked(measures).unwrap_or((values, &[]));
                    values = rest;
                    scores.take(place, own)?;
                }
                Err(name) => scores.take_unjudged(name)?,
            }
        }
        Ok(())
    }
}
