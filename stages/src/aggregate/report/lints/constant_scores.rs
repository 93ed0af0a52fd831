//! `constant-scores`: an evaluator that gives one value to every case. So looks an outage, or a measure that the benchmark
//! cannot tell anything by.

use super::lint::{Cases, Lint};
use crate::aggregate::PlannedQuery;
use crate::artifact::ScoreValue;

/// Below this many scored cases one value is no surprise.
const LEAST_CASES: u64 = 10;

/// The scores of one evaluator in one query of one recipe.
#[derive(Default)]
pub(super) struct ConstantScores {
    value: Option<ScoreValue>,
    differ: bool,
    scored: Cases,
}

impl ConstantScores {
    /// Looks at the value of a scored case.
    pub(super) fn see(&mut self, case_id: &str, value: &ScoreValue) {
        if self.differ {
            return;
        }
        self.differ = self.value.get_or_insert_with(|| value.clone()) != value;
        self.scored.add(case_id);
    }

    /// What is wrong with the scores that `evaluator` gave in `planned`.
    pub(super) fn lint(self, planned: &PlannedQuery, evaluator: &str) -> Option<Lint> {
        if self.differ || self.scored.count() < LEAST_CASES {
            return None;
        }
        let value = match self.value? {
            ScoreValue::Number(value) => format!("{value:.4}"),
            ScoreValue::Bool(value) => value.to_string(),
            ScoreValue::Label(label) => format!("{label:?}"),
        };
        let PlannedQuery { recipe, query, .. } = planned;
        let count = self.scored.count();
        let message = format!("{recipe} / {query}: {evaluator} is {value} for every one of the {count} scored cases");
        Some(self.scored.lint("constant-scores", message))
    }
}
