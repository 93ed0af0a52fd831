//! Means by category or unit, one table per query of a recipe.

use serde::Serialize;

use crate::aggregate::{MeasureSummary, Slice};

/// How many rows a table has at most; all are in the JSON report.
pub(super) const SHOWN_SLICES: usize = 100;

/// Rows are slices, columns evaluators.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct SliceTable {
    recipe: String,
    query: String,
    evaluators: Vec<String>,
    rows: Vec<SliceRow>,
    hidden: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct SliceRow {
    name: String,
    cells: Vec<SliceCell>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct SliceCell {
    mean: String,
    counts: String,
    why_not: Option<String>,
}

impl SliceTable {
    /// The tables of all queries in `measures`, whose entries of one query follow each other.
    pub(super) fn all(measures: &[MeasureSummary], slices: impl Fn(&MeasureSummary) -> &[Slice]) -> Vec<SliceTable> {
        measures
            .chunk_by(|a, b| a.recipe == b.recipe && a.query == b.query)
            .filter_map(|group| {
                let first = group.first()?;
                let names = slices(first);
                let rows = names.iter().enumerate().take(SHOWN_SLICES).map(|(i, slice)| SliceRow {
                    name: slice.name.clone().unwrap_or_else(|| "(none)".to_string()),
                    cells: group.iter().filter_map(|measure| slices(measure).get(i)).map(SliceCell::of).collect(),
                });
                (!names.is_empty()).then(|| SliceTable {
                    recipe: first.recipe.clone(),
                    query: first.query.clone(),
                    evaluators: group.iter().map(|measure| measure.evaluator.clone()).collect(),
                    rows: rows.collect(),
                    hidden: names.len().saturating_sub(SHOWN_SLICES),
                })
            })
            .collect()
    }
}

impl SliceCell {
    fn of(slice: &Slice) -> Self {
        let counts = &slice.counts;
        SliceCell {
            mean: match (slice.headline, slice.interval) {
                (None, _) => "–".to_string(),
                (Some(mean), None) => format!("{mean:.4}"),
                (Some(mean), Some(interval)) => format!("{mean:.4} [{:.4}, {:.4}]", interval.low, interval.high),
            },
            counts: format!("{}/{}/{}", counts.scored, counts.failed, counts.skipped),
            why_not: slice.no_headline.map(|why| why.to_string()),
        }
    }
}
