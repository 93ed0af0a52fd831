//! `summary`: what an evaluation comes to.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::failures::FailureGroup;
use super::options::StatisticsOptions;
use crate::artifact::ScoreState;
use crate::contract::Artifact;
use crate::error::DecodeError;

/// The means of an evaluation with all that is needed to judge them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Cases over all units.
    pub cases: u64,
    /// Units.
    pub units: u64,
    /// How the numbers were made.
    pub statistics: StatisticsOptions,
    /// One entry per recipe, query and evaluator, in the evaluation's order.
    pub measures: Vec<MeasureSummary>,
    /// One entry per recipe and query, in the evaluation's order.
    pub responses: Vec<ResponseCounts>,
    /// Failures by place and message: most frequent first.
    pub failures: Vec<FailureGroup>,
}

/// One evaluator in one query mode of one recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureSummary {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// The evaluator.
    pub evaluator: String,
    /// How many cases are behind the numbers.
    pub counts: Counts,
    /// Mean over the scored cases (truth values count as 1 and 0); `None` where there are none or they are labels.
    pub mean: Option<f64>,
    /// The mean where it may stand for the evaluation: coverage reaches the floor.
    pub headline: Option<f64>,
    /// Why there is no headline.
    pub no_headline: Option<NoHeadline>,
    /// Bootstrap interval of the mean; `None` below two scored cases or without resamples.
    pub interval: Option<Interval>,
    /// Spread of the scored cases' numbers.
    pub distribution: Option<Distribution>,
    /// Cases that passed, for evaluators that decide.
    pub passed: Option<u64>,
    /// How often each label was given, sorted by label; empty unless the evaluator gives labels.
    pub labels: Vec<LabelCount>,
    /// The same by category, sorted by name, cases without one first; empty where no case has one.
    pub categories: Vec<Slice>,
    /// The same by unit, in the benchmark's order; empty where there is one unit only.
    pub units: Vec<Slice>,
}

/// How many cases are behind a number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// All cases: scored, failed and skipped.
    pub cases: u64,
    /// Cases of which a score is expected: all but the skipped ones, which have no gold of the needed kind.
    pub expected: u64,
    /// Cases with a value.
    pub scored: u64,
    /// Cases whose response or evaluator failed, or whose value is no finite number.
    pub failed: u64,
    /// Cases without gold of the needed kind.
    pub skipped: u64,
    /// scored / expected; `None` where nothing is expected.
    pub coverage: Option<f64>,
}

impl Counts {
    /// The counts of cases in these states.
    pub fn of(states: impl Iterator<Item = ScoreState>) -> Self {
        let mut counts = Counts::default();
        for state in states {
            counts.cases += 1;
            match state {
                ScoreState::Scored => counts.scored += 1,
                ScoreState::Failed => counts.failed += 1,
                ScoreState::Skipped => counts.skipped += 1,
            }
        }
        counts.expected = counts.cases - counts.skipped;
        counts.coverage = (counts.expected > 0).then(|| counts.scored as f64 / counts.expected as f64);
        counts
    }
}

/// Why a mean may not stand for the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoHeadline {
    /// There are no cases.
    NoCases,
    /// Every case was skipped.
    AllSkipped,
    /// No case was scored, though some were expected to be.
    NothingScored,
    /// Fewer cases were scored than the floor asks for.
    Coverage {
        /// scored / expected.
        coverage: f64,
        /// The floor.
        floor: f64,
    },
    /// The evaluator gives labels, which have no mean.
    Labels,
}

impl NoHeadline {
    /// Why the mean of a measure with these counts may not be told, where it may not; `numeric` says whether it has numbers.
    pub fn of(counts: &Counts, numeric: bool, floor: f64) -> Option<Self> {
        match counts.coverage {
            None if counts.cases == 0 => Some(NoHeadline::NoCases),
            None => Some(NoHeadline::AllSkipped),
            Some(_) if counts.scored == 0 => Some(NoHeadline::NothingScored),
            Some(coverage) if coverage < floor => Some(NoHeadline::Coverage { coverage, floor }),
            Some(_) if !numeric => Some(NoHeadline::Labels),
            Some(_) => None,
        }
    }
}

impl fmt::Display for NoHeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoHeadline::NoCases => f.write_str("there are no cases"),
            NoHeadline::AllSkipped => f.write_str("every case was skipped"),
            NoHeadline::NothingScored => f.write_str("no case was scored"),
            NoHeadline::Coverage { coverage, floor } => write!(f, "coverage {coverage:.4} is under {floor:.4}"),
            NoHeadline::Labels => f.write_str("labels have no mean"),
        }
    }
}

/// A bootstrap percentile interval of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What was drawn with replacement.
    pub resampled: Resampled,
}

/// What a bootstrap draws with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resampled {
    /// Cases, as if they were independent.
    Cases,
    /// Whole units, because the cases of a unit share a knowledge base and go up and down together.
    Units,
    /// All cases that share gold documents, because they are found or missed together.
    Documents,
    /// Nothing: of so many cases the interval is that of the normal approximation, to which a bootstrap comes.
    Nothing,
}

/// How often a label was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// How many cases have it.
    pub cases: u64,
}

/// A part of the cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// The category's name or the unit's id; `None` for the cases without a category.
    pub name: Option<String>,
    /// How many cases are behind the mean.
    pub counts: Counts,
    /// Mean over the slice's scored cases, where the slice's own coverage reaches the floor. One that may not be shown is not
    /// kept either: by category nobody looks twice.
    pub headline: Option<f64>,
    /// Why there is no headline.
    pub no_headline: Option<NoHeadline>,
    /// Interval of the headline; drawn by the slice's own name, so that it does not depend on which other slices there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// How many cases of one query mode of one recipe have a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseCounts {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// Cases asked.
    pub cases: u64,
    /// Cases whose retrieval or answer failed.
    pub failed: u64,
    /// Cases of which the model says, as it was told to, that the passages do not hold the answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Artifact for Summary {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_cases_are_not_expected_and_failed_ones_are() {
        use ScoreState::{Failed, Scored, Skipped};
        let counts = Counts::of([Scored, Skipped, Failed, Scored, Scored].into_iter());
        assert_eq!((counts.cases, counts.expected, counts.scored), (5, 4, 3));
        assert_eq!((counts.failed, counts.skipped, counts.coverage), (1, 1, Some(0.75)));
        assert_eq!(Counts::of([Skipped].into_iter()).coverage, None);
    }
}
