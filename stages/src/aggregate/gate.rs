//! Gates: numbers that an evaluation must reach. They are in the report's key alone: moving a bar renders the report again
//! and computes nothing else.

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::paired::Paired;
use super::summary::{MeasureSummary, Summary};

/// A bar for one measure: what an evaluation file says under `gates`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSpec {
    /// What people call the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The evaluator's canonical name, e.g. `nDCG@10`.
    pub measure: String,
    /// The recipe; without one, every recipe must pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The query; without one, every query must pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The least mean that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The greatest mean that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// What the measure must not be worse than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse_than: Option<NoWorseThan>,
}

/// A recipe, or a baseline, that a measure must not be worse than, case by case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoWorseThan {
    /// Another recipe of the evaluation, or [`NoWorseThan::BASELINE`].
    pub reference: String,
    /// How much worse is no matter.
    pub margin: f64,
    /// What it takes to fail.
    pub rule: GateRule,
    /// Whether a lower value is a better one.
    pub lower_is_better: bool,
}

impl NoWorseThan {
    /// The name of the baseline.
    pub const BASELINE: &'static str = "baseline";
}

/// What it takes for a paired gate to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRule {
    /// It is worse by more than the margin, and the paired interval of the difference excludes 0: evidence and effect both. Too few
    /// cases pass.
    Significant,
    /// It is not shown to be no worse: the paired interval reaches beyond the margin. Too few cases fail.
    NonInferior,
}

impl Walk for GateSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "gate");
        v.text("measure", &self.measure);
        for (name, value) in [("name", &self.name), ("recipe", &self.recipe), ("query", &self.query)] {
            if let Some(value) = value {
                v.text(name, value);
            }
        }
        for (name, bound) in [("at_least", self.at_least), ("at_most", self.at_most)] {
            if let Some(bound) = bound {
                v.float(name, bound);
            }
        }
        if let Some(paired) = &self.no_worse_than {
            v.text("no_worse_than", &paired.reference);
            v.float("margin", paired.margin);
            v.text(
                "rule",
                match paired.rule {
                    GateRule::Significant => "significant",
                    GateRule::NonInferior => "non_inferior",
                },
            );
            v.bool("lower_is_better", paired.lower_is_better);
        }
        v.end();
    }
}

impl GateSpec {
    /// The gate in words: its name or its condition, e.g. `nDCG@10 >= 0.65`.
    pub fn text(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let bounds = [(">=", self.at_least), ("<=", self.at_most)];
        let bounds = bounds.into_iter().filter_map(|(sign, bound)| bound.map(|bound| format!(" {sign} {bound}")));
        let mut bounds: Vec<String> = bounds.collect();
        if let Some(paired) = &self.no_worse_than {
            let margin = if paired.margin > 0.0 { format!(" by {}", paired.margin) } else { String::new() };
            bounds.push(format!(" no worse than {}{margin}", paired.reference));
        }
        format!("{}{}", self.measure, bounds.join(" and"))
    }

    /// What is wrong with the gate itself: no bound, a bound that is no number, or bounds that nothing satisfies.
    pub fn fault(&self) -> Option<String> {
        match (self.at_least, self.at_most) {
            (None, None) if self.no_worse_than.is_some() => None,
            (None, None) => Some("the gate has neither at_least nor at_most".to_string()),
            (low, high) if [low, high].into_iter().flatten().any(f64::is_nan) => {
                Some("the gate's bound is not a number".to_string())
            }
            (Some(low), Some(high)) if low > high => Some(format!("no value is at least {low} and at most {high}")),
            _ => None,
        }
    }

    pub(super) fn covers(&self, measure: &MeasureSummary) -> bool {
        measure.evaluator == self.measure
            && self.recipe.as_ref().is_none_or(|recipe| *recipe == measure.recipe)
            && self.query.as_ref().is_none_or(|query| *query == measure.query)
            && !self.compares_with_itself(measure)
    }

    /// Whether nothing is asked but that a recipe is no worse than itself.
    fn compares_with_itself(&self, measure: &MeasureSummary) -> bool {
        let bare = self.at_least.is_none() && self.at_most.is_none();
        bare && self.no_worse_than.as_ref().is_some_and(|paired| paired.reference == measure.recipe)
    }

    fn judge(&self, measure: &MeasureSummary) -> GateOutcome {
        let too_low = |value: f64| self.at_least.filter(|bound| value < *bound).map(|b| format!("{value:.4} < {b}"));
        let too_high = |value: f64| self.at_most.filter(|bound| value > *bound).map(|b| format!("{value:.4} > {b}"));
        let why = match (self.fault(), measure.headline) {
            (Some(fault), _) => Some(fault),
            (None, Some(value)) => too_low(value).or_else(|| too_high(value)),
            (None, None) => Some(match measure.no_headline {
                Some(reason) => format!("no headline number: {reason}"),
                None => "no headline number".to_string(),
            }),
        };
        GateOutcome {
            gate: self.text(),
            recipe: Some(measure.recipe.clone()),
            query: Some(measure.query.clone()),
            measure: self.measure.clone(),
            value: measure.headline,
            at_least: self.at_least,
            at_most: self.at_most,
            paired: None,
            regression: false,
            passed: why.is_none(),
            why,
        }
    }
}

/// How a gate came out for one recipe and query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateOutcome {
    /// The gate in words.
    pub gate: String,
    /// The recipe; `None` where the gate found nothing to judge.
    pub recipe: Option<String>,
    /// The query; `None` where the gate found nothing to judge.
    pub query: Option<String>,
    /// The measure.
    pub measure: String,
    /// The headline number that was judged.
    pub value: Option<f64>,
    /// The least value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The greatest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The paired difference to what the measure must not be worse than, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<Paired>,
    /// Whether only the comparison failed: the values keep their bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regression: bool,
    /// Whether it passed.
    pub passed: bool,
    /// Why it did not.
    pub why: Option<String>,
}

/// Judges every gate on every recipe and query that it covers, in the summary's order.
///
/// A gate on a measure without a headline number (coverage under its floor) fails, and so does one that covers nothing: a
/// bar that was never looked at is not a bar that was cleared.
pub fn check(summary: &Summary, gates: &[GateSpec]) -> Vec<GateOutcome> {
    judged(summary, gates).into_iter().map(|(_, outcome)| outcome).collect()
}

/// As [`check`], each outcome with its gate: two gates may be called the same.
pub(super) fn judged<'g>(summary: &Summary, gates: &'g [GateSpec]) -> Vec<(&'g GateSpec, GateOutcome)> {
    let mut outcomes = Vec::new();
    for gate in gates {
        let before = outcomes.len();
        let covered = summary.measures.iter().filter(|measure| gate.covers(measure));
        outcomes.extend(covered.map(|measure| (gate, gate.judge(measure))));
        if outcomes.len() == before {
            let outcome = GateOutcome {
                gate: gate.text(),
                recipe: gate.recipe.clone(),
                query: gate.query.clone(),
                measure: gate.measure.clone(),
                value: None,
                at_least: gate.at_least,
                at_most: gate.at_most,
                paired: None,
                regression: false,
                passed: false,
                why: Some(nothing_covered(summary, gate)),
            };
            outcomes.push((gate, outcome));
        }
    }
    outcomes
}

fn nothing_covered(summary: &Summary, gate: &GateSpec) -> String {
    let mut known: Vec<&str> = summary.measures.iter().map(|measure| measure.evaluator.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&gate.measure.as_str()) {
        format!("{} was not measured for that recipe and query", gate.measure)
    } else if known.is_empty() {
        "the evaluation has no evaluators".to_string()
    } else {
        format!("no evaluator is called {}; there are {}", gate.measure, known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Counts, NoHeadline};

    fn measure(recipe: &str, headline: Option<f64>) -> MeasureSummary {
        MeasureSummary {
            recipe: recipe.to_string(),
            query: "full_text".to_string(),
            evaluator: "nDCG@10".to_string(),
            counts: Counts::default(),
            mean: Some(0.7),
            headline,
            no_headline: headline.is_none().then_some(NoHeadline::Coverage { coverage: 0.9, floor: 0.95 }),
            interval: None,
            distribution: None,
            passed: None,
            labels: Vec::new(),
            categories: Vec::new(),
            units: Vec::new(),
        }
    }

    fn outcomes(gate: GateSpec) -> Vec<(Option<String>, bool, Option<String>)> {
        let measures = vec![measure("base", Some(0.65)), measure("tuned", Some(0.7)), measure("broken", None)];
        let summary = Summary { measures, ..Summary::default() };
        check(&summary, &[gate]).into_iter().map(|outcome| (outcome.recipe, outcome.passed, outcome.why)).collect()
    }

    fn gate() -> GateSpec {
        GateSpec { measure: "nDCG@10".to_string(), ..GateSpec::default() }
    }

    #[test]
    fn bounds_are_inclusive_and_every_recipe_is_judged() {
        let found = outcomes(GateSpec { at_least: Some(0.65), at_most: Some(0.69), ..gate() });
        let some = |text: &str| Some(text.to_string());
        assert_eq!(found[0], (some("base"), true, None));
        assert_eq!(found[1], (some("tuned"), false, some("0.7000 > 0.69")));
        assert_eq!(found[2], (some("broken"), false, some("no headline number: coverage 0.9000 is under 0.9500")));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn what_cannot_be_judged_fails() {
        let none = outcomes(GateSpec { recipe: Some("other".to_string()), at_least: Some(0.1), ..gate() });
        assert_eq!(none.len(), 1);
        assert!(!none[0].1);
        let unknown = outcomes(GateSpec { measure: "AP".to_string(), at_least: Some(0.1), ..GateSpec::default() });
        assert_eq!(unknown[0].2.as_deref(), Some("no evaluator is called AP; there are nDCG@10"));
        assert!(outcomes(gate()).iter().all(|(_, passed, _)| !passed));
        assert!(GateSpec { at_least: Some(0.9), at_most: Some(0.1), ..gate() }.fault().is_some());
    }

    #[test]
    fn gates_are_read_strictly() {
        let read: GateSpec = serde_json::from_str(r#"{"measure": "AP", "at_least": 0.2}"#).expect("gate");
        assert_eq!(read.text(), "AP >= 0.2");
        assert!(serde_json::from_str::<GateSpec>(r#"{"measure": "AP", "atleast": 0.2}"#).is_err());
    }
}
