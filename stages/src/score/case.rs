//! One case before its evaluator: what it may see, and the key of that.

use ragstage_cache::{Digest, KeyHasher, KeyVisitor};

use super::evaluator::{CaseView, Evaluator, Reads, ResponseView};
use crate::artifact::{Answer, Gold, Hit, Score};
use crate::error::RowError;

/// One case with what the evaluator may see of it, or why there is nothing to see.
pub(crate) struct Case<'a> {
    pub(crate) gold: &'a Gold,
    pub(crate) query: &'a str,
    pub(crate) hits: &'a [Hit],
    pub(crate) answer: Option<&'a Answer>,
    pub(crate) upstream: Option<&'a RowError>,
    pub(crate) digests: CaseDigests,
}

/// Digests of a case's gold and of what the evaluator reads of its response.
pub(crate) struct CaseDigests {
    pub(crate) gold: Digest,
    pub(crate) results: Option<Digest>,
    pub(crate) answer: Option<Digest>,
}

impl Case<'_> {
    /// The score that `evaluator` gives.
    pub(crate) fn evaluate(&self, evaluator: &dyn Evaluator) -> Result<Score, RowError> {
        let case = CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold };
        let response = ResponseView {
            results: self.hits,
            answer: self.answer.and_then(|answer| answer.text.as_deref()),
            citations: self.answer.map(|answer| answer.citations.as_slice()).unwrap_or_default(),
        };
        evaluator.evaluate(&case, &response)
    }

    /// The row's key: all that the score depends on beyond the evaluator.
    pub(crate) fn key(&self, reads: Reads) -> Digest {
        let mut v = KeyHasher::new();
        v.begin_record("", "ragstage.score.row");
        v.digest("gold", &self.digests.gold);
        if reads.question {
            v.text("question", self.query);
        }
        for (name, digest) in [("results", &self.digests.results), ("answer", &self.digests.answer)] {
            if let Some(digest) = digest {
                v.digest(name, digest);
            }
        }
        v.end();
        v.finish()
    }
}
