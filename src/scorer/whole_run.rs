//! A run whose queries are scattered over the file, gathered in memory.

use std::collections::HashMap;

use ragstage_stages::score::measures::Measure;

use super::judged_queries::JudgedQueries;
use super::piece::{Piece, PieceScores};
use super::query_scorer::QueryScorer;
use super::rows::{Rows, Segment};

/// The rows of each query.
#[derive(Debug, Default)]
pub struct WholeRun {
    index: HashMap<Box<[u8]>, usize>,
    /// In the order of first appearance.
    pub queries: Vec<WholeQuery>,
}

/// The rows of one query.
#[derive(Debug, Default)]
pub struct WholeQuery {
    /// The query.
    pub id: Box<[u8]>,
    /// Its rows, placed by bytes of `documents`.
    rows: Rows,
    /// All document ids.
    documents: Vec<u8>,
}

impl WholeRun {
    /// Adds the rows of a piece, before which there are `before` lines.
    pub fn add<'a, D: Fn(usize) -> &'a [u8]>(&mut self, piece: &Piece<'a, D>, before: u64) {
        for segment in &piece.rows.segments {
            let query = self.query(piece.queries.get(segment.query.clone()).unwrap_or_default());
            for row in segment.rows.clone() {
                let (Some(key), Some(line)) = (piece.rows.keys.get(row), piece.rows.lines.get(row)) else { continue };
                query.push(*key, before + u64::from(*line), (piece.document)(row));
            }
        }
    }

    fn query(&mut self, name: &[u8]) -> &mut WholeQuery {
        let place = match self.index.get(name) {
            Some(place) => *place,
            None => {
                self.queries.push(WholeQuery { id: name.into(), ..WholeQuery::default() });
                self.index.insert(name.into(), self.queries.len() - 1);
                self.queries.len() - 1
            }
        };
        &mut self.queries[place]
    }
}

impl WholeQuery {
    fn push(&mut self, key: u32, line: u64, document: &[u8]) {
        let start = self.documents.len();
        self.documents.extend_from_slice(document);
        // 4 GB of ids of one query are beyond what a block may hold.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.rows.ids.push((place(start), place(self.documents.len())));
        self.rows.keys.push(key);
        self.rows.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }

    /// What each row ranks by.
    pub fn keys(&self) -> &[u32] {
        &self.rows.keys
    }

    /// The line of a row.
    pub fn line(&self, row: usize) -> u64 {
        self.rows.lines.get(row).copied().unwrap_or(0).into()
    }

    /// The document of a row.
    pub fn document(&self, row: usize) -> &[u8] {
        self.rows.document(&self.documents, row)
    }

    /// Scores the query.
    pub fn score(
        &mut self,
        scorer: &mut QueryScorer,
        queries: &JudgedQueries,
        measures: &[&dyn Measure],
    ) -> PieceScores {
        self.rows.segments = vec![Segment { query: 0..self.id.len(), rows: 0..self.rows.keys.len() }];
        let document = |row: usize| self.rows.document(&self.documents, row);
        Piece { rows: &self.rows, queries: &self.id, document }.score(scorer, queries, measures)
    }
}
