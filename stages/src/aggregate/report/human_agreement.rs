//! How far judges agree with what people say of the same cases.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::action::EvaluatorInfo;
use super::case_response::CaseResponse;
use crate::aggregate::planned_query::PlannedQuery;
use crate::aggregate::series::Outcome;
use crate::artifact::{Json, ScoreValue};
use crate::score::judge::{HumanLabel, KappaScale, agreement};

/// The agreement of one evaluator with people, over the responses to one query of one recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct HumanAgreement<'a> {
    recipe: &'a str,
    query: &'a str,
    evaluator: &'a str,
    /// Cases that both gave a label.
    cases: usize,
    /// Share of them with the same label.
    same: Option<f64>,
    /// Cohen's kappa; of numbers with quadratic weights.
    kappa: Option<f64>,
    weights: &'static str,
    /// Scored cases that people gave no label.
    unlabelled: usize,
    /// Labelled cases without a score: skipped or failed.
    unscored: Vec<&'a str>,
    /// Labels of cases that the benchmark does not have.
    unknown: Vec<UnknownCase<'a>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct UnknownCase<'a> {
    case_id: &'a str,
    file: &'a str,
    line: u64,
}

/// The pairs of one planned query's evaluator.
struct Pairs<'a> {
    column: usize,
    planned: &'a PlannedQuery,
    evaluator: &'a EvaluatorInfo,
    labels: BTreeMap<&'a str, &'a HumanLabel>,
    pairs: Vec<(String, String)>,
    words: bool,
    unlabelled: usize,
    unscored: Vec<&'a str>,
    met: BTreeSet<&'a str>,
}

/// Looks at every case, and compares at the end.
pub(super) struct HumanAgreements<'a>(Vec<Pairs<'a>>);

impl<'a> HumanAgreements<'a> {
    /// Of the evaluators that people gave labels for.
    pub(super) fn begin(plan: &'a [PlannedQuery], evaluators: &'a [EvaluatorInfo]) -> Self {
        let mut all = Vec::new();
        for (column, planned) in plan.iter().enumerate() {
            for evaluator in evaluators.iter().filter(|evaluator| planned.evaluators.contains(&evaluator.name)) {
                let Some(labels) = &evaluator.labels else { continue };
                all.push(Pairs {
                    column,
                    planned,
                    evaluator,
                    labels: labels.rows.iter().map(|label| (label.case_id.as_str(), label)).collect(),
                    pairs: Vec::new(),
                    words: false,
                    unlabelled: 0,
                    unscored: Vec::new(),
                    met: BTreeSet::new(),
                });
            }
        }
        HumanAgreements(all)
    }

    /// Looks at a case of the planned query `column`.
    pub(super) fn see(&mut self, column: usize, case: &CaseResponse<'_>) {
        for own in self.0.iter_mut().filter(|own| own.column == column) {
            let mut scores = case.scores.iter().zip(&case.details);
            let found = scores.find(|((name, _), _)| *name == own.evaluator.name);
            let Some(((_, outcome), detail)) = found else { continue };
            let label = own.labels.get(case.query.case_id.as_str()).copied();
            match (judged(outcome, *detail), label) {
                (Some(judged), Some(label)) => {
                    own.words |= matches!(outcome.value, Some(ScoreValue::Label(_)));
                    own.met.insert(&label.case_id);
                    own.pairs.push((judged, label.label.clone()));
                }
                (Some(_), None) => own.unlabelled += 1,
                (None, Some(label)) => {
                    own.met.insert(&label.case_id);
                    own.unscored.push(&label.case_id);
                }
                (None, None) => {}
            }
        }
    }

    /// How far they agree.
    pub(super) fn finish(self) -> Vec<HumanAgreement<'a>> {
        let one = |own: Pairs<'a>| {
            let scale = if own.words { KappaScale::Nominal } else { KappaScale::Ordinal };
            let found = agreement(scale, &own.pairs);
            let labels =
                own.evaluator.labels.iter().flat_map(|labels| labels.rows.iter().map(move |row| (labels, row)));
            let unknown = labels
                .filter(|(_, row)| !own.met.contains(row.case_id.as_str()))
                .map(|(labels, row)| UnknownCase { case_id: &row.case_id, file: &labels.file, line: row.line });
            HumanAgreement {
                recipe: &own.planned.recipe,
                query: &own.planned.query,
                evaluator: &own.evaluator.name,
                cases: own.pairs.len(),
                same: found.map(|found| found.same),
                kappa: found.and_then(|found| found.kappa),
                weights: if own.words { "none" } else { "quadratic" },
                unlabelled: own.unlabelled,
                unscored: own.unscored,
                unknown: unknown.collect(),
            }
        };
        self.0.into_iter().map(one).collect()
    }
}

/// What an evaluator says of a case on the scale on which people label: the label or the grade that the judge replied (of
/// several judgements the mean), else the score.
fn judged(outcome: &Outcome<'_>, detail: Option<&Json>) -> Option<String> {
    let number = match outcome.value.as_ref()? {
        ScoreValue::Label(label) => return Some(label.clone()),
        ScoreValue::Bool(value) => f64::from(u8::from(*value)),
        ScoreValue::Number(value) => *value,
    };
    Some(detail.and_then(grade).unwrap_or(number).to_string())
}

/// The grade that a score's detail tells; of several judgements, or of several answers, the mean.
fn grade(detail: &Json) -> Option<f64> {
    if let Some(grade) = detail.get("grade") {
        return grade.as_f64();
    }
    let list = detail.get("judgements").or_else(|| detail.get("samples"))?.as_array()?;
    let grades: Vec<f64> = list.iter().map(|one| grade(one["detail"].as_object()?)).collect::<Option<_>>()?;
    (!grades.is_empty()).then(|| grades.iter().sum::<f64>() / grades.len() as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_grade_is_found_however_deep() {
        let of = |detail: Value| grade(detail.as_object().expect("an object"));
        let (three, zero) =
            (json!({"value": 0.75, "detail": {"grade": 3}}), json!({"value": 0, "detail": {"grade": 0}}));
        assert_eq!(of(json!({"grade": 3})), Some(3.0));
        assert_eq!(of(json!({"judgements": [three, zero]})), Some(1.5));
        let nested = json!({"value": 0, "detail": {"judgements": [three, three, zero]}});
        assert_eq!(of(json!({"samples": [nested, zero]})), Some(1.0));
        assert_eq!(of(json!({"claims": []})), None);
        assert_eq!(of(json!({"samples": [zero, {"value": 1}]})), None);
    }
}
