//! One line of the table of results.

use super::summary::{MeasureSummary, NoHeadline, Summary};

/// What one evaluator says of one query mode of one recipe, in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// The evaluator.
    pub evaluator: String,
    /// The mean, where coverage allows one.
    pub mean: Option<f64>,
    /// Ends of the mean's interval; `None` where there is no mean or no interval.
    pub interval: Option<(f64, f64)>,
    /// Scored cases.
    pub scored: u64,
    /// Failed cases.
    pub failed: u64,
    /// Skipped cases.
    pub skipped: u64,
    /// scored / (scored + failed); `None` where all were skipped.
    pub coverage: Option<f64>,
    /// Why there is no mean.
    pub why_not: Option<NoHeadline>,
}

impl From<&MeasureSummary> for Headline {
    fn from(measure: &MeasureSummary) -> Self {
        let interval = measure.headline.and(measure.interval);
        Headline {
            recipe: measure.recipe.clone(),
            query: measure.query.clone(),
            evaluator: measure.evaluator.clone(),
            mean: measure.headline,
            interval: interval.map(|interval| (interval.low, interval.high)),
            scored: measure.counts.scored,
            failed: measure.counts.failed,
            skipped: measure.counts.skipped,
            coverage: measure.counts.coverage,
            why_not: measure.no_headline,
        }
    }
}

impl Summary {
    /// The rows of the table of results, in the evaluation's order.
    pub fn headlines(&self) -> Vec<Headline> {
        self.measures.iter().map(Headline::from).collect()
    }
}
