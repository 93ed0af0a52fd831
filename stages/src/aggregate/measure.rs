//! From a series to its summary.

use std::collections::BTreeMap;

use super::bootstrap::{Bootstrap, LEAST_CLUSTERS, cluster_sums};
use super::case_list::{CaseList, Category};
use super::distribution::{Distribution, mean};
use super::normal_interval::{MANY, normal_interval};
use super::options::StatisticsOptions;
use super::series::Series;
use super::summary::{Counts, Interval, LabelCount, MeasureSummary, NoHeadline, Resampled, Slice};
use crate::artifact::{ScoreState, ScoreValue, Unit};

/// The outcomes of a series as columns, by entry.
struct Column<'a> {
    series: &'a Series,
    cases: &'a CaseList,
    options: &'a StatisticsOptions,
    states: Vec<ScoreState>,
    /// NaN where there is no number; all are where the evaluator gave any label.
    numbers: Vec<f64>,
    numeric: bool,
}

impl MeasureSummary {
    /// The summary of `series`; `categories` are those of the cases.
    pub(super) fn of(
        series: &Series,
        cases: &CaseList,
        categories: &[Category<'_>],
        options: &StatisticsOptions,
    ) -> Self {
        let labels = labels(series, cases);
        let numeric = labels.is_empty();
        let mut column = Column { series, cases, options, states: Vec::new(), numbers: Vec::new(), numeric };
        column.states.reserve_exact(cases.len());
        column.numbers.reserve_exact(cases.len());
        let (mut verdicts, mut passed) = (0, 0);
        for entry in 0..cases.len() {
            let outcome = series.outcome(cases, entry);
            let number = outcome.value.as_ref().filter(|_| numeric).and_then(ScoreValue::number);
            column.states.push(outcome.state);
            column.numbers.push(number.unwrap_or(f64::NAN));
            verdicts += u64::from(outcome.passed.is_some());
            passed += u64::from(outcome.passed == Some(true));
        }
        let all = 0..cases.len();
        let (counts, values) = (column.counts(all.clone()), column.values(all.clone()));
        let mean = mean(&values);
        let no_headline = NoHeadline::of(&counts, numeric, options.coverage_floor);
        let units = match cases.units.units.as_slice() {
            [] | [_] => Vec::new(),
            units => {
                let slice =
                    |(i, unit): (usize, &Unit)| column.slice("unit", Some(unit.unit_id.clone()), cases.range(i));
                units.iter().enumerate().map(slice).collect()
            }
        };
        let slice = |category: &Category<'_>| {
            column.slice("category", category.name.map(str::to_string), category.entries.iter().copied())
        };
        MeasureSummary {
            recipe: series.recipe.clone(),
            query: series.query.clone(),
            evaluator: series.evaluator.clone(),
            counts,
            mean,
            headline: if no_headline.is_none() { mean } else { None },
            no_headline,
            interval: column.interval(&Bootstrap::new(options, column.names()), all, &values),
            distribution: Distribution::of(&values),
            passed: (verdicts > 0).then_some(passed),
            labels,
            categories: categories.iter().map(slice).collect(),
            units,
        }
    }
}

impl Column<'_> {
    fn names(&self) -> [&str; 3] {
        [&self.series.recipe, &self.series.query, &self.series.evaluator]
    }

    fn number(&self, entry: usize) -> Option<f64> {
        self.numbers.get(entry).copied().filter(|number| !number.is_nan())
    }

    fn counts(&self, entries: impl Iterator<Item = usize>) -> Counts {
        Counts::of(entries.filter_map(|entry| self.states.get(entry).copied()))
    }

    fn values(&self, entries: impl Iterator<Item = usize>) -> Vec<f64> {
        entries.filter_map(|entry| self.number(entry)).collect()
    }

    fn slice(&self, kind: &str, name: Option<String>, entries: impl Iterator<Item = usize> + Clone) -> Slice {
        let counts = self.counts(entries.clone());
        let no_headline = NoHeadline::of(&counts, self.numeric, self.options.coverage_floor);
        let values = if no_headline.is_none() { self.values(entries.clone()) } else { Vec::new() };
        let bootstrap = Bootstrap::of_slice(self.options, self.names(), kind, name.as_deref().unwrap_or_default());
        let interval = self.interval(&bootstrap, entries, &values);
        Slice { name, counts, headline: mean(&values), no_headline, interval }
    }

    /// The interval of the mean of `values`, those of `entries`: from resampling units or, where there are few, cases that
    /// share gold documents; else single cases.
    fn interval(
        &self,
        bootstrap: &Bootstrap,
        entries: impl Iterator<Item = usize> + Clone,
        values: &[f64],
    ) -> Option<Interval> {
        let (cases, options) = (self.cases, self.options);
        if values.len() < 2 || options.resamples == 0 {
            return None;
        }
        let drawn = |bound: usize, cluster: &dyn Fn(usize) -> Option<usize>| {
            let values = entries.clone().filter_map(|entry| Some((cluster(entry)?, self.number(entry)?)));
            Some(cluster_sums(bound, values)).filter(|clusters| clusters.len() >= LEAST_CLUSTERS)
        };
        let (units, documents) = (cases.units.units.len(), cases.units.clusters.len());
        let clusters = match units >= LEAST_CLUSTERS {
            true => drawn(units, &|entry| Some(cases.unit(entry))).map(|clusters| (Resampled::Units, clusters)),
            false => drawn(documents, &|entry| cases.cluster(entry)).map(|clusters| (Resampled::Documents, clusters)),
        };
        let (resampled, ends) = match clusters {
            Some((what, clusters)) => (what, bootstrap.of_clusters(&clusters)),
            None if values.len() >= MANY => (Resampled::Nothing, normal_interval(values, options.confidence)),
            None => (Resampled::Cases, bootstrap.of_values(values)),
        };
        ends.map(|(low, high)| Interval { low, high, resampled })
    }
}

/// The histogram of an evaluator that gave any label; its numbers, if it gave some, count under their text.
fn labels(series: &Series, cases: &CaseList) -> Vec<LabelCount> {
    let values = || (0..cases.len()).filter_map(|entry| series.outcome(cases, entry).value);
    if !values().any(|value| matches!(value, ScoreValue::Label(_))) {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for value in values() {
        *counts.entry(value.text()).or_default() += 1;
    }
    counts.into_iter().map(|(label, cases)| LabelCount { label, cases }).collect()
}
