//! Evaluators that read the answer and nothing else, and differ in their rule alone.

use ragstage_cache::KeyVisitor;

use crate::artifact::Score;
use crate::error::RowError;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;

/// Scores the answer of one response.
type AnswerRule = dyn Fn(&CaseView, &ResponseView) -> Result<Score, RowError> + Send + Sync;

/// An evaluator of answers.
pub(crate) struct AnswerEvaluator {
    identity: Identity,
    rule: Box<AnswerRule>,
}

impl AnswerEvaluator {
    /// The evaluator that goes by `rule`; the definition's version and the options stand for it in keys.
    pub(crate) fn boxed(
        identity: Identity,
        rule: impl Fn(&CaseView, &ResponseView) -> Result<Score, RowError> + Send + Sync + 'static,
    ) -> Box<dyn Evaluator> {
        Box::new(AnswerEvaluator { identity, rule: Box::new(rule) })
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
        Reads { answer: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        (self.rule)(case, response)
    }
}
