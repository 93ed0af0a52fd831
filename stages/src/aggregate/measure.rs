//! From a series to its summary.

use std::collections::BTreeMap;

use super::bootstrap::{Bootstrap, LEAST_CLUSTERS, cluster_sums};
use super::case_list::CaseList;
use super::distribution::{Distribution, mean};
use super::normal_interval::{MANY, normal_interval};
use super::options::StatisticsOptions;
use super::series::{Outcome, Series};
use super::summary::{Counts, Interval, LabelCount, MeasureSummary, NoHeadline, Resampled, Slice};
use crate::artifact::ScoreValue;

impl MeasureSummary {
    /// The summary of `series`.
    pub(super) fn of(series: &Series, cases: &CaseList, options: &StatisticsOptions) -> Self {
        let outcomes: Vec<Outcome<'_>> = (0..cases.len()).map(|entry| series.outcome(cases, entry)).collect();
        let labels = labels(&outcomes);
        let numeric = labels.is_empty();
        let numbers = |entries: &[usize]| -> Vec<f64> {
            if numeric { entries.iter().filter_map(|&entry| number(&outcomes[entry])).collect() } else { Vec::new() }
        };
        let counts = |entries: &[usize]| Counts::of(entries.iter().map(|&entry| outcomes[entry].state));
        let names = [series.recipe.as_str(), series.query.as_str(), series.evaluator.as_str()];
        let slice = |kind: &str, name: Option<String>, entries: &[usize]| {
            let counts = counts(entries);
            let no_headline = NoHeadline::of(&counts, numeric, options.coverage_floor);
            let numbers = if no_headline.is_none() { numbers(entries) } else { Vec::new() };
            let bootstrap = Bootstrap::of_slice(options, names, kind, name.as_deref().unwrap_or_default());
            let interval = interval(&bootstrap, &outcomes, cases, entries, &numbers, options);
            Slice { name, counts, headline: mean(&numbers), no_headline, interval }
        };
        let all: Vec<usize> = (0..cases.len()).collect();
        let (counts, values) = (counts(&all), numbers(&all));
        let mean = mean(&values);
        let no_headline = NoHeadline::of(&counts, numeric, options.coverage_floor);
        let units = match cases.units.units.as_slice() {
            [] | [_] => Vec::new(),
            units => {
                let entries = |unit| cases.range(unit).collect::<Vec<_>>();
                units
                    .iter()
                    .enumerate()
                    .map(|(i, unit)| slice("unit", Some(unit.unit_id.clone()), &entries(i)))
                    .collect()
            }
        };
        MeasureSummary {
            recipe: series.recipe.clone(),
            query: series.query.clone(),
            evaluator: series.evaluator.clone(),
            counts,
            mean,
            headline: if no_headline.is_none() { mean } else { None },
            no_headline,
            interval: interval(&Bootstrap::new(options, names), &outcomes, cases, &all, &values, options),
            distribution: Distribution::of(&values),
            passed: passed(&outcomes),
            labels,
            categories: categories(cases)
                .into_iter()
                .map(|(name, entries)| slice("category", name, &entries))
                .collect(),
            units,
        }
    }
}

fn number(outcome: &Outcome<'_>) -> Option<f64> {
    outcome.value.and_then(ScoreValue::number)
}

/// The histogram of an evaluator that gave any label; its numbers, if it gave some, count under their text.
fn labels(outcomes: &[Outcome<'_>]) -> Vec<LabelCount> {
    let values = || outcomes.iter().filter_map(|outcome| outcome.value);
    if !values().any(|value| matches!(value, ScoreValue::Label(_))) {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for value in values() {
        *counts.entry(value.text()).or_default() += 1;
    }
    counts.into_iter().map(|(label, cases)| LabelCount { label, cases }).collect()
}

fn passed(outcomes: &[Outcome<'_>]) -> Option<u64> {
    let mut verdicts = outcomes.iter().filter_map(|outcome| outcome.passed).peekable();
    verdicts.peek()?;
    Some(verdicts.filter(|passed| *passed).count() as u64)
}

/// The interval of the mean of `numbers`, those of `entries`: from resampling units or, where there are few, cases that share
/// gold documents; else single cases.
fn interval(
    bootstrap: &Bootstrap,
    outcomes: &[Outcome<'_>],
    cases: &CaseList,
    entries: &[usize],
    numbers: &[f64],
    options: &StatisticsOptions,
) -> Option<Interval> {
    if numbers.len() < 2 || options.resamples == 0 {
        return None;
    }
    let drawn = |cluster: &dyn Fn(usize) -> Option<usize>| {
        let values = entries.iter().filter_map(|&entry| Some((cluster(entry)?, number(&outcomes[entry])?)));
        Some(cluster_sums(values)).filter(|clusters| clusters.len() >= LEAST_CLUSTERS)
    };
    let units = || drawn(&|entry| Some(cases.unit(entry))).map(|clusters| (Resampled::Units, clusters));
    let documents = || drawn(&|entry| cases.cluster(entry)).map(|clusters| (Resampled::Documents, clusters));
    let clusters = match cases.units.units.len() {
        many if many >= LEAST_CLUSTERS => units(),
        _ => documents(),
    };
    let (resampled, ends) = match clusters {
        Some((what, clusters)) => (what, bootstrap.of_clusters(&clusters)),
        None if numbers.len() >= MANY => (Resampled::Nothing, normal_interval(numbers, options.confidence)),
        None => (Resampled::Cases, bootstrap.of_values(numbers)),
    };
    ends.map(|(low, high)| Interval { low, high, resampled })
}

/// The entries of each category; nothing where no case has one.
fn categories(cases: &CaseList) -> BTreeMap<Option<String>, Vec<usize>> {
    let mut categories: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for entry in 0..cases.len() {
        categories.entry(cases.query(entry).category.map(str::to_string)).or_default().push(entry);
    }
    if categories.len() == 1 && categories.contains_key(&None) {
        categories.clear();
    }
    categories
}
