//! What the joint evaluators share: all but their value.

use ragstage_cache::KeyVisitor;

use super::fact_evaluator::{predicted, reads};
use super::joint::Joint;
use crate::artifact::{Score, ScoreValue};
use crate::error::RowError;
use crate::score::answers::OverlapRule;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;
use crate::score::squad_text::normalize;

/// An evaluator of an answer together with the facts that it rests on.
pub(super) struct JointEvaluator {
    identity: Identity,
    value: fn(&Joint) -> ScoreValue,
}

impl JointEvaluator {
    /// The evaluator of `value`.
    pub(super) fn boxed(identity: Identity, value: fn(&Joint) -> ScoreValue) -> Box<dyn Evaluator> {
        Box::new(JointEvaluator { identity, value })
    }
}

impl Evaluator for JointEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        // Without an answer there is nothing to be right together.
        Reads {
            answer: true,
            answer_is_optional: false,
            without_citations: self.identity.is("from", "results"),
            ..reads(&self.identity)
        }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let answer = response.answer.unwrap_or_default();
        let golds = &case.gold.answers;
        let Some((overlap, best)) = OverlapRule::HOTPOTQA.best(answer, golds, |overlap| overlap.f1) else {
            return Ok(Score::skipped("the case has no gold answers"));
        };
        let (predicted, mut detail) = match predicted(&self.identity, case, response) {
            Ok(predicted) => predicted,
            Err(why) => return Ok(Score::skipped(why)),
        };
        let normal = normalize(answer);
        let is_answer = golds.iter().any(|gold| normalize(gold) == normal);
        let joint = Joint { answer: overlap, is_answer, facts: predicted.agreement() };
        detail.insert("best_answer".to_string(), best.into());
        detail.insert("answer_precision".to_string(), overlap.precision.into());
        detail.insert("answer_recall".to_string(), overlap.recall.into());
        detail.insert("fact_precision".to_string(), joint.facts.precision().into());
        detail.insert("fact_recall".to_string(), joint.facts.recall().into());
        let value = (self.value)(&joint);
        let passed = match value {
            ScoreValue::Bool(passed) => Some(passed),
            _ => None,
        };
        Ok(Score::scored(value, passed, detail))
    }
}
