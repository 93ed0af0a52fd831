//! `answer_exact_match`: the answer is a gold answer (spec/heta 5.3). Punctuation and articles count.

use ragstage_cache::KeyVisitor;

use super::answer_match::match_answers;
use super::definition::{CutoffRule, Definition};
use super::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use super::identity::Identity;
use crate::artifact::Score;
use crate::error::RowError;

struct AnswerExactMatch {
    identity: Identity,
}

pub(crate) static ANSWER_EXACT_MATCH: Definition = Definition {
    name: "answer_exact_match",
    pretty: "Answer Exact Match",
    description: "whether the answer is a gold answer, letter case and runs of whitespace aside",
    citation: None,
    higher_is_better: true,
    other_names: &["exact_match", "em"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| Ok(Box::new(AnswerExactMatch { identity })),
};

impl Evaluator for AnswerExactMatch {
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
        match_answers(case, response, |answer, gold| answer == gold)
    }
}
