//! Which case results a report lists.

use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use serde::Serialize;

use super::case_results::CaseResults;
use super::scale::Scale;
use super::worst_cases::SHOWN_CASES;
use crate::aggregate::PlannedQuery;
use crate::aggregate::case_list::CaseList;
use crate::aggregate::response_errors::ResponseErrors;
use crate::aggregate::series::Series;

/// How many failed cases of a query are listed where not all cases are.
const FAILED: usize = 1000;

/// The case results that are listed.
pub(super) struct ShownCases {
    /// Entry and column; `None` where all are listed.
    chosen: Option<BTreeSet<(usize, usize)>>,
    /// What is not listed.
    pub(super) truncated: Option<Truncated>,
    /// How many cases failed or stand below the top of some evaluator's scale; known where not all are listed.
    pub(super) bad: Option<usize>,
}

/// That not all case results are listed.
#[derive(Debug, Serialize)]
pub(super) struct Truncated {
    listed: usize,
    of: usize,
    listed_are: String,
    all_scores: &'static str,
    option: &'static str,
}

impl ShownCases {
    /// Those that `option` asks for; `columns` are the planned queries with their series and the scales of those.
    pub(super) fn of(
        option: CaseResults,
        cases: &CaseList,
        columns: &[(&PlannedQuery, &[Series])],
        scales: &[Vec<Option<Scale>>],
        errors: &[ResponseErrors],
    ) -> Self {
        let of = cases.len() * columns.len();
        match option {
            CaseResults::UpTo(most) if of as u64 > most => {}
            _ => return ShownCases { chosen: None, truncated: None, bad: None },
        }
        let mut chosen = BTreeSet::new();
        let mut bad = 0;
        for (column, (((_, series), scales), errors)) in columns.iter().zip(scales).zip(errors).enumerate() {
            let mut failed = 0;
            // The standings that are kept, the best of them on top: a standing is not negative, and so ordered as its bits.
            let mut worst: Vec<BinaryHeap<(u64, usize)>> = series.iter().map(|_| BinaryHeap::new()).collect();
            for entry in 0..cases.len() {
                let mut fails = errors.failure(entry).is_some();
                let mut stands_below = false;
                for ((series, scale), worst) in series.iter().zip(scales).zip(&mut worst) {
                    let outcome = series.outcome(cases, entry);
                    fails |= outcome.error.is_some();
                    let value = outcome.value.and_then(|value| value.number());
                    let Some(standing) = scale.as_ref().zip(value).map(|(scale, value)| scale.share(value)) else {
                        continue;
                    };
                    if standing >= 1.0 {
                        continue;
                    }
                    stands_below = true;
                    let standing = (standing.to_bits(), entry);
                    if worst.len() < SHOWN_CASES {
                        worst.push(standing);
                    } else if worst.peek().is_some_and(|best| standing < *best) {
                        worst.pop();
                        worst.push(standing);
                    }
                }
                bad += usize::from(fails || stands_below);
                if fails && failed < FAILED {
                    failed += 1;
                    chosen.insert((entry, column));
                }
            }
            chosen.extend(worst.into_iter().flatten().map(|(_, entry)| (entry, column)));
        }
        let truncated = Truncated {
            listed: chosen.len(),
            of,
            listed_are: format!(
                "of each query the first {FAILED} that failed and the {SHOWN_CASES} worst by each evaluator"
            ),
            all_scores: "scores.parquet",
            option: "report: {case_results: all}",
        };
        ShownCases { chosen: Some(chosen), truncated: Some(truncated), bad: Some(bad) }
    }

    /// Those of `entries` that are in `column`.
    pub(super) fn listed(&self, entries: Range<usize>, column: usize) -> Vec<usize> {
        match &self.chosen {
            None => entries.collect(),
            Some(chosen) => {
                let some = chosen.range((entries.start, 0)..(entries.end, 0));
                some.filter(|(_, of)| *of == column).map(|(entry, _)| *entry).collect()
            }
        }
    }

    /// The entries of which any is listed; `None` means all.
    pub(super) fn entries(&self) -> Option<BTreeSet<usize>> {
        self.chosen.as_ref().map(|chosen| chosen.iter().map(|(entry, _)| *entry).collect())
    }
}
