//! One case before its evaluator: what it may see, and the key of that.

use ragstage_cache::Digest;

use super::evaluator::{CaseView, Evaluator, Reads, ResponseView, Scorable};
use super::sample_scores::mean_score;
use crate::artifact::{Answer, Gold, Hit, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};

/// One case with what the evaluator may see of it, or why there is nothing to see.
pub(crate) struct Case<'a> {
    pub(crate) gold: &'a Gold,
    pub(crate) query: &'a str,
    pub(crate) hits: &'a [Hit],
    pub(crate) answer: Option<&'a Answer>,
    pub(crate) upstream: Option<&'a RowError>,
    /// Digest of all that the score depends on beside the evaluator.
    pub(crate) key: Digest,
}

impl Case<'_> {
    /// The score that `evaluator` gives: where a case has several answers and it reads them, the mean of what it gives each.
    pub(crate) fn evaluate(&self, evaluator: &dyn Evaluator) -> Result<Score, RowError> {
        let case = CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold };
        let of = |answer, citations| evaluator.evaluate(&case, &ResponseView::new(self.hits, answer, citations));
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
        let key = self.key;
        let of = |answer, citations, key| {
            let response = ResponseView::new(self.hits, answer, citations);
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
}

/// Why no case has a score where no answers are asked for and the evaluator reads them.
pub(crate) const NO_ANSWERS: &str = "no answers were asked for";

/// The score, unless its value is none: a mean of it would be none either, and JSON has no such number.
pub(crate) fn finite(score: Score) -> Result<Score, RowError> {
    match score.value {
        Some(ScoreValue::Number(value)) if !value.is_finite() => {
            Err(RowError::new(RowErrorKind::Evaluator, format!("the score is {value}, which is no number")))
        }
        Some(ScoreValue::Number(value)) if value.abs() > Score::MOST => Err(RowError::new(
            RowErrorKind::Evaluator,
            format!("the score is {value}, which is beyond {:e}", Score::MOST),
        )),
        _ => Ok(score),
    }
}

/// The score of a case without a response: skipped where that is no failure, else failed for the response's reason.
pub(crate) fn unscored(error: &RowError) -> Score {
    match error.kind {
        RowErrorKind::Absent => Score::skipped(error.message.clone()),
        _ => Score::failed(upstream(error)),
    }
}

/// The error of a response as the error of its score.
fn upstream(error: &RowError) -> RowError {
    let message = match error.kind {
        RowErrorKind::Upstream => error.message.clone(),
        _ => error.to_string(),
    };
    RowError { kind: RowErrorKind::Upstream, message, attempts: error.attempts, retry_after_s: None }
}
