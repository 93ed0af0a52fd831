//! Two sides, evaluator by evaluator.

use std::collections::BTreeMap;

use ragstage_stages::aggregate::{Paired, SameData, Scored, Side, StatisticsOptions, holm};
use serde::Serialize;

use super::differences::Difference;

/// How many flipped cases are named.
const NAMED: usize = 20;

/// A case that came out otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// The case.
    pub case_id: String,
    /// The first's value.
    pub first: f64,
    /// The second's value.
    pub second: f64,
}

/// One evaluator on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The evaluator.
    pub evaluator: String,
    /// The numbers; `None` where no case has a number on both sides.
    pub paired: Option<Paired>,
    /// p, adjusted for all tests of the command.
    pub p_holm: Option<f64>,
    /// Cases that only one side has a number for: they are left out.
    pub left_out: u64,
    /// Cases that passed first and did not then, and those that only passed then.
    pub failed_now: Vec<Flip>,
    /// Cases that did not pass first and did then.
    pub passed_now: Vec<Flip>,
    /// Cases whose response is the same on both sides and whose value is not: the evaluator drifted, or has another version.
    pub drifted: u64,
}

/// Two sides.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The first, with which the second is compared.
    pub first: String,
    /// The second.
    pub second: String,
    /// Whether they are of the same data.
    pub same_data: SameData,
    /// In what they differ by their keys.
    pub differences: Vec<Difference>,
    /// Cases whose response both sides list.
    pub responses: u64,
    /// Of these, those with the same hits and answer.
    pub same_responses: u64,
    /// By evaluator.
    pub measures: Vec<Compared>,
}

/// Compares each pair; p-values are adjusted over all pairs and evaluators together. `wanted` are evaluators by name, all where
/// there are none.
pub fn compare(pairs: &[(&Side, &Side)], wanted: &[String], options: &StatisticsOptions) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> =
        pairs.iter().map(|(first, second)| one(first, second, wanted, options)).collect();
    let tests: Vec<f64> = measures(&mut comparisons).filter_map(|measure| measure.paired.as_ref()?.p).collect();
    let mut adjusted = holm(&tests).into_iter();
    for measure in measures(&mut comparisons) {
        if measure.paired.as_ref().is_some_and(|paired| paired.p.is_some()) {
            measure.p_holm = adjusted.next();
        }
    }
    comparisons
}

fn measures(comparisons: &mut [Comparison]) -> impl Iterator<Item = &mut Compared> {
    comparisons.iter_mut().flat_map(|comparison| comparison.measures.iter_mut())
}

fn one(first: &Side, second: &Side, wanted: &[String], options: &StatisticsOptions) -> Comparison {
    let listed: Vec<&String> = first.responses.keys().filter(|case| second.responses.contains_key(*case)).collect();
    let same = |case: &String| first.responses.get(case).is_some_and(|one| second.responses.get(case) == Some(one));
    let evaluators = first.scores.keys().filter(|evaluator| second.scores.contains_key(*evaluator));
    let evaluators = evaluators.filter(|evaluator| wanted.is_empty() || wanted.contains(evaluator));
    Comparison {
        first: first.name.clone(),
        second: second.name.clone(),
        same_data: first.same_data(second),
        differences: Difference::between(first, second),
        responses: listed.len() as u64,
        same_responses: listed.iter().filter(|case| same(case)).count() as u64,
        measures: evaluators.map(|evaluator| measure(first, second, evaluator, &same, options)).collect(),
    }
}

fn measure(
    first: &Side,
    second: &Side,
    evaluator: &str,
    same: &dyn Fn(&String) -> bool,
    options: &StatisticsOptions,
) -> Compared {
    let scores = |side: &'_ Side| side.scores.get(evaluator).cloned().unwrap_or_default();
    let (ones, others): (BTreeMap<String, Scored>, BTreeMap<String, Scored>) = (scores(first), scores(second));
    let (mut pairs, mut cases, mut flips) = (Vec::new(), Vec::new(), Vec::new());
    let mut drifted = 0;
    for (case, one) in &ones {
        let Some(other) = others.get(case) else { continue };
        drifted += u64::from(same(case) && (one.value != other.value || one.label != other.label));
        let (Some(a), Some(b)) = (one.value, other.value) else { continue };
        pairs.push((a, b));
        cases.push(case);
        if let (Some(before), Some(after)) = (one.passed, other.passed)
            && before != after
        {
            flips.push((after, Flip { case_id: case.clone(), first: a, second: b }));
        }
    }
    let has = |scored: &Scored| scored.value.is_some();
    let either = ones.values().filter(|one| has(one)).count() + others.values().filter(|one| has(one)).count();
    let clusters = first.clusters(cases.iter().copied());
    let name = [first.name.as_str(), second.name.as_str(), evaluator];
    let flipped = |passed: bool| {
        flips.iter().filter(|(now, _)| *now == passed).map(|(_, flip)| flip.clone()).take(NAMED).collect::<Vec<_>>()
    };
    Compared {
        evaluator: evaluator.to_string(),
        left_out: (either - 2 * pairs.len()) as u64,
        paired: Paired::of(&pairs, clusters.as_deref(), options, name),
        p_holm: None,
        failed_now: flipped(false),
        passed_now: flipped(true),
        drifted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(name: &str, values: &[(&str, f64)]) -> Side {
        let scored = |value: f64| Scored { value: Some(value), label: None, passed: Some(value >= 0.5) };
        let scores = values.iter().map(|(case, value)| (case.to_string(), scored(*value))).collect();
        Side { name: name.to_string(), scores: [("token_f1".to_string(), scores)].into(), ..Side::default() }
    }

    #[test]
    fn only_cases_of_both_sides_count() {
        let first = side("a", &[("1", 0.0), ("2", 1.0), ("3", 0.5), ("only", 1.0)]);
        let second = side("b", &[("1", 1.0), ("2", 0.0), ("3", 0.75), ("other", 0.0), ("another", 0.0)]);
        let found = compare(&[(&first, &second)], &[], &StatisticsOptions::default());
        let measure = &found[0].measures[0];
        let paired = measure.paired.as_ref().expect("pairs");
        assert_eq!((paired.cases, paired.difference, measure.left_out), (3, 0.25 / 3.0, 3));
        assert_eq!((measure.failed_now[0].case_id.as_str(), measure.passed_now[0].case_id.as_str()), ("2", "1"));
        assert_eq!(measure.p_holm, paired.p);
        assert!(
            compare(&[(&first, &second)], &["AP".to_string()], &StatisticsOptions::default())[0].measures.is_empty()
        );
    }
}
