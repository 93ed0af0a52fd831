//! One case before its evaluator: what it may see, and the key of that.

use ragstage_cache::{Digest, KeyHasher, KeyVisitor};

use super::evaluator::{CaseView, Evaluator, Reads, ResponseView, Scorable};
use super::sample_scores::mean_score;
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
    /// The score that `evaluator` gives: where a case has several answers and it reads them, the mean of what it gives each.
    pub(crate) fn evaluate(&self, evaluator: &dyn Evaluator) -> Result<Score, RowError> {
        let case = CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold };
        let of = |answer, citations| evaluator.evaluate(&case, &ResponseView { results: self.hits, answer, citations });
        let samples = self.answer.map(|answer| answer.samples.as_slice()).unwrap_or_default();
        if samples.len() > 1 && evaluator.reads().answer {
            let scores = samples.iter().map(|sample| of(Some(sample.text.as_str()), sample.citations.as_slice()));
            return Ok(mean_score(scores.collect::<Result<Vec<_>, _>>()?));
        }
        let citations = self.answer.map(|answer| answer.citations.as_slice()).unwrap_or_default();
        of(self.answer.and_then(|answer| answer.text.as_deref()), citations)
    }

    /// The responses that an evaluator of all at once is given: one for each answer, where it reads them.
    pub(crate) fn scorables(&self, reads: Reads, salt: u64) -> Vec<Scorable<'_>> {
        let case = CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold };
        let key = self.key(reads);
        let of = |answer, citations, key| {
            let response = ResponseView { results: self.hits, answer, citations };
            Scorable { case, response, key, salt }
        };
        let samples = self.answer.map(|answer| answer.samples.as_slice()).unwrap_or_default();
        if samples.len() > 1 && reads.answer {
            let numbered =
                |sample: usize| Digest::of_parts("ragstage.score.sample", [&key.0[..], &(sample as u64).to_le_bytes()]);
            let all = samples.iter().enumerate();
            return all
                .map(|(i, sample)| of(Some(sample.text.as_str()), sample.citations.as_slice(), numbered(i)))
                .collect();
        }
        let citations = self.answer.map(|answer| answer.citations.as_slice()).unwrap_or_default();
        vec![of(self.answer.and_then(|answer| answer.text.as_deref()), citations, key)]
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
