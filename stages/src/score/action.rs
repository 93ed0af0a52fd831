//! The action: one evaluator over the responses of one unit in one query mode.

use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::evaluator::Evaluator;
use crate::artifact::Unit;
use crate::contract::{Action, Context, Produced, begin_key};
use crate::error::StageError;
use crate::step::Step;

/// Scores every case of a unit; gives `scores` in the unit's case order.
///
/// The key holds the evaluator, the digests of what it reads, and the unit's gold; the artifacts `queries` and `gold` only
/// say where that is read, so that another unit's gold makes nothing stale here. A row's key holds the same of one case, so
/// that a corrected gold answer scores one case. Rows of an evaluator of single cases are kept in the outputs themselves
/// (`scores`, and their keys as the observation `score_keys`), where the next run finds them; those of an evaluator that
/// asks models or programs on the way are in the row cache, like the replies that they are made of.
pub struct ScoreResponses {
    /// The evaluator.
    pub evaluator: Arc<dyn Evaluator>,
    /// The unit's results.
    pub results: Digest,
    /// The unit's answers, where any were asked for.
    pub answers: Option<Digest>,
    /// The benchmark's queries.
    pub queries: Digest,
    /// The benchmark's gold.
    pub gold: Digest,
    /// The unit.
    pub unit: Unit,
    /// 0, or what tells a forced run apart.
    pub salt: u64,
}

impl Walk for ScoreResponses {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        let reads = self.evaluator.reads();
        begin_key(v, Step::Score, self.salt);
        self.evaluator.walk(v);
        if reads.results {
            v.digest("results", &self.results);
        }
        if reads.answer {
            match &self.answers {
                Some(answers) => v.digest("answers", answers),
                None => v.null("answers"),
            }
        }
        if reads.question {
            v.digest("queries", &self.unit.queries_digest);
        }
        v.digest("gold", &self.unit.gold_digest);
        v.end();
    }
}

/// The rows of an evaluator: all its scores, of any benchmark and mode.
pub(super) struct Slot<'a> {
    pub(super) evaluator: &'a dyn Evaluator,
    pub(super) salt: u64,
}

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Score, self.salt);
        self.evaluator.walk(v);
        v.end();
    }
}

impl Action for ScoreResponses {
    fn step(&self) -> Step {
        Step::Score
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        match self.evaluator.together() {
            Some(together) => self.score_together(context, together),
            None => self.score_by_group(context),
        }
    }
}

/// What is wrong with the artifact `digest`.
pub(super) fn artifact(digest: &Digest, why: String) -> StageError {
    StageError::artifact(Step::Score, digest, why)
}
