//! One case before its evaluator: what it may see, and the key of that.

use ragstage_cache::Digest;

use super::evaluator::{CaseView, Evaluator, Reads, ResponseView, Scorable};
use super::sample_scores::mean_score;
use crate::artifact::{Answer, AnswerSample, Gold, Hit, Score, ScoreValue};
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
        let case = self.view();
        of_samples(self.responses(evaluator.reads()).map(|response| evaluator.evaluate(&case, &response)))
    }

    /// The responses that an evaluator of all at once is given: one for each answer, where it reads them.
    pub(crate) fn scorables(&self, reads: Reads, salt: u64) -> Vec<Scorable<'_>> {
        let case = self.view();
        let several = self.samples(reads).is_some();
        let key = |sample: usize| match several {
            true => Digest::of_parts("ragstage.score.sample", [&self.key.0[..], &(sample as u64).to_le_bytes()]),
            false => self.key,
        };
        let responses = self.responses(reads).enumerate();
        responses.map(|(sample, response)| Scorable { case, response, key: key(sample), salt }).collect()
    }

    fn view(&self) -> CaseView<'_> {
        CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold }
    }

    /// The answers, where there are several and they are read.
    fn samples(&self, reads: Reads) -> Option<&[AnswerSample]> {
        let samples = self.answer.map(|answer| answer.samples.as_slice())?;
        (samples.len() > 1 && reads.answer).then_some(samples)
    }

    /// The response with each of its answers, or with the only one.
    fn responses(&self, reads: Reads) -> impl Iterator<Item = ResponseView<'_>> {
        let samples = self.samples(reads);
        let several = samples.unwrap_or_default().iter().map(|sample| (Some(sample.text.as_str()), &*sample.citations));
        let only = samples.is_none().then(|| match self.answer {
            Some(answer) => (answer.text.as_deref(), &*answer.citations),
            None => (None, &[][..]),
        });
        several.chain(only).map(|(answer, citations)| ResponseView::new(self.hits, answer, citations))
    }
}

/// The score of a case: that of its answer, or the mean of those of its answers. An answer without one is a case without one.
pub(crate) fn of_samples(scores: impl Iterator<Item = Result<Score, RowError>>) -> Result<Score, RowError> {
    let mut scores = scores.peekable();
    let none = || RowError::new(RowErrorKind::Evaluator, "the evaluator gave fewer scores than were asked for");
    let first = scores.next().ok_or_else(none)??;
    match scores.peek() {
        None => Ok(first),
        Some(_) => Ok(mean_score(std::iter::once(Ok(first)).chain(scores).collect::<Result<_, _>>()?)),
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
