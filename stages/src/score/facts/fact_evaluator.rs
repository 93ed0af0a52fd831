//! What the evaluators of supporting facts share: all but their value.

use ragstage_cache::KeyVisitor;

use super::agreement::Agreement;
use super::fact::{FactUnit, Facts, Predicted};
use super::passage::Prediction;
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::RowError;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;

/// An evaluator of the facts that a response rests on.
pub(super) struct FactEvaluator {
    identity: Identity,
    value: fn(&Agreement) -> ScoreValue,
}

impl FactEvaluator {
    /// The evaluator of `value`.
    pub(super) fn boxed(identity: Identity, value: fn(&Agreement) -> ScoreValue) -> Box<dyn Evaluator> {
        Box::new(FactEvaluator { identity, value })
    }
}

/// What is read of a response to know its facts. Of hits whose texts do not count they are not read.
pub(super) fn reads(identity: &Identity) -> Reads {
    Reads {
        results: true,
        without_texts: identity.is("unit", "document"),
        answer: !identity.is("from", "results"),
        answer_is_optional: identity.is("from", "either"),
        ..Reads::default()
    }
}

/// The facts that `response` predicts, with what is kept of them beside a score: the places (from 0) of the gold facts in the
/// case's evidence that are `found` and `missing`, the number of `wrong` ones, and what they were read `from`.
///
/// # Errors
/// Why there is nothing to compare.
pub(super) fn predicted(
    identity: &Identity,
    case: &CaseView,
    response: &ResponseView,
) -> Result<(Predicted, Json), &'static str> {
    let unit = FactUnit::of(identity);
    let facts = Facts::of(case.gold, unit);
    if case.gold.evidence.is_empty() {
        return Err("the case has no gold evidence");
    }
    if facts.is_empty() {
        return Err(match unit {
            FactUnit::Sentence => "no gold evidence of the case has a text; unit=document compares documents",
            FactUnit::Document => "no gold evidence of the case names a document",
        });
    }
    let prediction = Prediction::of(identity, response);
    if unit == FactUnit::Sentence && prediction.is_without_texts() {
        return Err("no passage of the response has a text; unit=document compares documents");
    }
    let predicted = facts.predicted(&prediction);
    let mut detail = Json::new();
    detail.insert("found".to_string(), predicted.found.iter().copied().collect::<Vec<_>>().into());
    detail.insert("missing".to_string(), predicted.missing.iter().copied().collect::<Vec<_>>().into());
    detail.insert("wrong".to_string(), predicted.wrong.len().into());
    detail.insert("from".to_string(), prediction.from.into());
    Ok((predicted, detail))
}

impl Evaluator for FactEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        reads(&self.identity)
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let (predicted, detail) = match predicted(&self.identity, case, response) {
            Ok(predicted) => predicted,
            Err(why) => return Ok(Score::skipped(why)),
        };
        let value = (self.value)(&predicted.agreement());
        let passed = match value {
            ScoreValue::Bool(passed) => Some(passed),
            _ => None,
        };
        Ok(Score::scored(value, passed, detail))
    }
}
