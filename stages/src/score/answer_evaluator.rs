//! Evaluators that read the answer and nothing else, and differ in their rule alone.

use ragstage_cache::KeyVisitor;

use super::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use super::identity::Identity;
use crate::artifact::Score;
use crate::error::RowError;

/// Scores the answer of one response.
pub(crate) type AnswerRule = fn(&CaseView, &ResponseView) -> Result<Score, RowError>;

/// An evaluator of answers.
pub(crate) struct AnswerEvaluator {
    identity: Identity,
    rule: AnswerRule,
}

impl AnswerEvaluator {
    /// The evaluator that goes by `rule`; the definition's version stands for it in keys.
    pub(crate) fn boxed(identity: Identity, rule: AnswerRule) -> Box<dyn Evaluator> {
        Box::new(AnswerEvaluator { identity, rule })
    }
}

impl Evaluator for AnswerEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { answer: true, without_citations: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        (self.rule)(case, response)
    }
}
