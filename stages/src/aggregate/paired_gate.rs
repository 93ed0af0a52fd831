//! Gates on a difference: a measure must not be worse than that of another recipe, or of a baseline, case by case.

use std::path::PathBuf;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::gate::{GateOutcome, GateRule, GateSpec, NoWorseThan};
use super::options::StatisticsOptions;
use super::paired::Paired;
use super::side::{SameData, Scored, Side, sides_of_report, sides_of_scores};
use crate::artifact::BenchmarkInfo;
use crate::contract::Context;
use crate::error::{InputError, Place, StageError, StageErrorKind};
use crate::step::Step;

/// A report that measures are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The `report.json`; for messages, in no key.
    pub path: PathBuf,
    /// Digest of its bytes.
    pub report: Digest,
    /// Digest of the `scores.parquet` beside it, where there is one.
    pub scores: Option<Digest>,
}

impl Walk for Baseline {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.digest("baseline.report", &self.report);
        if let Some(scores) = &self.scores {
            v.digest("baseline.scores", scores);
        }
    }
}

/// Adds to the outcomes of gates what their comparisons come to. A gate whose bounds failed stays one of value. Gives what a
/// reader should know of the baseline.
///
/// # Errors
/// When the baseline is missing, is no report, or is one of another benchmark.
pub(super) fn compare(
    context: &dyn Context,
    outcomes: &mut [(&GateSpec, GateOutcome)],
    (score_table, benchmark): (&Digest, &BenchmarkInfo),
    baseline: Option<&Baseline>,
    options: &StatisticsOptions,
) -> Result<Option<String>, StageError> {
    if outcomes.iter().all(|(gate, _)| gate.no_worse_than.is_none()) {
        return Ok(None);
    }
    let artifact =
        |why: String| StageError { step: Step::Report, kind: StageErrorKind::Artifact { digest: *score_table, why } };
    let own = sides_of_scores(context.blob(score_table)?, benchmark).map_err(|error| artifact(error.to_string()))?;
    let of_baseline = match baseline {
        Some(baseline) => read(context, baseline)?,
        None => Vec::new(),
    };
    let mut told = None;
    if let (Some(baseline), Some(mine), Some(theirs)) = (baseline, own.first(), of_baseline.first()) {
        let names = [theirs, mine].map(|side| side.benchmark().unwrap_or_default());
        match mine.same_data(theirs) {
            SameData::Yes => {}
            SameData::OtherState => {
                told = Some(format!(
                    "the baseline is of other documents, cases or gold of {:?}: a difference to it may be theirs",
                    names[1]
                ));
            }
            SameData::OtherBenchmark => {
                let [theirs, mine] = names;
                let message = format!("the baseline is of the benchmark {theirs:?}, and this evaluation of {mine:?}");
                return Err(fault(baseline, message, "name a report of this benchmark as baseline"));
            }
        }
    }
    for (gate, outcome) in outcomes {
        let Some(paired) = &gate.no_worse_than else { continue };
        let (Some(recipe), Some(query)) = (&outcome.recipe, &outcome.query) else { continue };
        let mine = side_of(&own, recipe, query);
        let theirs = match paired.reference == NoWorseThan::BASELINE {
            true => {
                let twin = mine.and_then(|mine| mine.twin(&own, &of_baseline));
                twin.or_else(|| only(of_baseline.iter()))
            }
            false if paired.reference == *recipe => continue,
            false => side_of(&own, &paired.reference, query)
                .or_else(|| only(own.iter().filter(|side| side.recipe == paired.reference))),
        };
        let found = match (mine, theirs) {
            (Some(mine), Some(theirs)) => compared(theirs, mine, &outcome.measure, options),
            _ => None,
        };
        judge(outcome, paired, found);
    }
    Ok(told)
}

fn fault(baseline: &Baseline, message: String, hint: &str) -> StageError {
    StageError::input(Step::Report, vec![InputError::new(Place::file(&baseline.path), message).hint(hint)])
}

fn side_of<'s>(sides: &'s [Side], recipe: &str, query: &str) -> Option<&'s Side> {
    sides.iter().find(|side| side.recipe == recipe && side.query == query)
}

/// The side of those that there are, where it is one: responses that were imported have none of the evaluation's queries.
fn only<'s>(mut sides: impl Iterator<Item = &'s Side>) -> Option<&'s Side> {
    sides.next().filter(|_| sides.next().is_none())
}

fn judge(outcome: &mut GateOutcome, wanted: &NoWorseThan, found: Option<Paired>) {
    let sign = if wanted.lower_is_better { -1.0 } else { 1.0 };
    let why = match &found {
        None => Some(format!("{} has no case in common with it", wanted.reference)),
        Some(paired) => {
            let better = sign * paired.difference;
            // The ends change places where lower is better.
            let ends =
                paired.interval.map(|(low, high)| ((sign * low).min(sign * high), (sign * low).max(sign * high)));
            let failed = match (wanted.rule, ends) {
                (GateRule::Significant, Some((_, high))) => better < -wanted.margin && high < 0.0,
                (GateRule::Significant, None) => false,
                (GateRule::NonInferior, Some((low, _))) => low < -wanted.margin,
                (GateRule::NonInferior, None) => true,
            };
            let interval = match paired.interval {
                Some((low, high)) => format!(", interval [{low:+.4}, {high:+.4}]"),
                None => String::new(),
            };
            failed.then(|| {
                format!(
                    "{:+.4} to {} over {} cases{interval}, where {} is no matter",
                    paired.difference, wanted.reference, paired.cases, wanted.margin
                )
            })
        }
    };
    outcome.paired = found;
    if let Some(why) = why {
        outcome.regression = outcome.passed;
        outcome.passed = false;
        outcome.why = Some(match outcome.why.take() {
            Some(before) => format!("{before}; {why}"),
            None => why,
        });
    }
}

/// The comparison of two sides under one evaluator; `None` where no case has a number on both.
fn compared(first: &Side, second: &Side, evaluator: &str, options: &StatisticsOptions) -> Option<Paired> {
    let (ones, others) = (first.scores.get(evaluator)?, second.scores.get(evaluator)?);
    let (mut pairs, mut cases) = (Vec::new(), Vec::new());
    for (case, one) in ones {
        let number = |scored: &Scored| scored.value;
        let (Some(a), Some(b)) = (number(one), others.get(case).and_then(number)) else { continue };
        pairs.push((a, b));
        cases.push(case);
    }
    let clusters = second.clusters(cases.iter().copied());
    Paired::of(&pairs, clusters.as_deref(), options, [&first.name, &second.name, evaluator])
}

fn read(context: &dyn Context, baseline: &Baseline) -> Result<Vec<Side>, StageError> {
    let fault = |message| fault(baseline, message, "give the report.json of an earlier run, with its scores.parquet");
    let gone = || fault("the baseline is not there any more, or has changed".to_string());
    let report = context.source(&baseline.report)?.ok_or_else(gone)?;
    let scores = match &baseline.scores {
        Some(scores) => Some(context.source(scores)?.ok_or_else(gone)?),
        None => None,
    };
    sides_of_report(None, &report, scores).map_err(|error| fault(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(differences: &[f64], wanted: &NoWorseThan) -> (bool, bool) {
        let pairs: Vec<(f64, f64)> = differences.iter().map(|difference| (0.5, 0.5 + difference)).collect();
        let found = Paired::of(&pairs, None, &StatisticsOptions::default(), ["a", "b", "m"]);
        let mut outcome = GateOutcome {
            gate: "m".to_string(),
            recipe: None,
            query: None,
            measure: "m".to_string(),
            value: Some(0.5),
            at_least: None,
            at_most: None,
            paired: None,
            regression: false,
            passed: true,
            why: None,
        };
        judge(&mut outcome, wanted, found);
        (outcome.passed, outcome.regression)
    }

    fn wanted(margin: f64, rule: GateRule, lower_is_better: bool) -> NoWorseThan {
        NoWorseThan { reference: "base".to_string(), margin, rule, lower_is_better }
    }

    #[test]
    fn evidence_and_effect_are_both_needed() {
        let significant = |margin| wanted(margin, GateRule::Significant, false);
        let worse: Vec<f64> = (0..50).map(|i| if i % 5 == 0 { 0.02 } else { -0.1 }).collect();
        assert_eq!(outcome(&worse, &significant(0.0)), (false, true));
        // Worse for sure, but not by so much that it matters.
        assert_eq!(outcome(&worse, &significant(0.2)), (true, false));
        // Worse in the mean by much, and nobody can tell whether by chance.
        let noisy = [-0.5, 0.4, -0.5, 0.4, -0.3];
        assert_eq!(outcome(&noisy, &significant(0.02)), (true, false));
        // Whoever wants proof does not get it from five cases.
        assert_eq!(outcome(&noisy, &wanted(0.02, GateRule::NonInferior, false)), (false, true));
        assert_eq!(outcome(&[0.0; 50], &wanted(0.02, GateRule::NonInferior, false)), (true, false));
        // Where lower is better the same difference is a gain.
        assert_eq!(outcome(&worse, &wanted(0.0, GateRule::Significant, true)), (true, false));
        assert_eq!(outcome(&[], &significant(0.0)), (false, true));
    }
}
