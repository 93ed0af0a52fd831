//! What a run is worth: a value of each measure for each judged query.

use std::collections::HashSet;

use super::judged_queries::JudgedQueries;

/// Values of one run.
#[derive(Debug)]
pub struct RunScores {
    /// The measures' values of each judged query, in the order of the queries; `None` where the run has no rows of it.
    pub values: Vec<Option<Box<[f64]>>>,
    /// Queries of the run that are not judged.
    pub unjudged: HashSet<Box<[u8]>>,
    /// Rows of the run.
    pub rows: u64,
}

/// A query whose rows do not follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scattered;

impl RunScores {
    /// Nothing of `queries` yet.
    pub fn new(queries: &JudgedQueries) -> Self {
        RunScores { values: vec![None; queries.queries().len()], unjudged: HashSet::new(), rows: 0 }
    }

    /// Takes the values of a judged query.
    ///
    /// # Errors
    /// When the query was there before.
    pub fn take(&mut self, place: usize, values: &[f64]) -> Result<(), Scattered> {
        match self.values.get_mut(place) {
            Some(known @ None) => {
                *known = Some(values.into());
                Ok(())
            }
            _ => Err(Scattered),
        }
    }

    /// Takes a query that is not judged.
    ///
    /// # Errors
    /// When the query was there before.
    pub fn take_unjudged(&mut self, query: Box<[u8]>) -> Result<(), Scattered> {
        if self.unjudged.insert(query) { Ok(()) } else { Err(Scattered) }
    }

    /// How many judged queries the run has rows of.
    pub fn evaluated(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// How many judged queries it has no rows of.
    pub fn missing(&self) -> usize {
        self.values.len() - self.evaluated()
    }

    /// The mean of measure `measure`, over all judged queries, those missing as 0, or over those that the run has. `None` over
    /// no query.
    pub fn mean(&self, measure: usize, missing_as_zero: bool) -> Option<f64> {
        let queries = if missing_as_zero { self.values.len() } else { self.evaluated() };
        let values = self.values.iter().flatten().filter_map(|values| values.get(measure));
        // Not `sum`, which makes nothing -0.
        let sum = values.fold(0.0, |sum, value| sum + value);
        (queries > 0).then(|| sum / queries as f64)
    }
}
