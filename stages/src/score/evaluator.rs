//! What an evaluator is: it says of one response to one case how good it is.

use std::borrow::Cow;

use ragstage_cache::{Digest, KeyVisitor};

use super::measures::Measure;
use super::program::ProgramSpec;
use super::text_match::Passages;
use crate::artifact::{Citation, Gold, Hit, Score};
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};

/// A case as an evaluator sees it.
#[derive(Debug, Clone, Copy)]
pub struct CaseView<'a> {
    /// The case; for messages only, scores must not depend on it.
    pub case_id: &'a str,
    /// The question; empty unless [`Reads::question`].
    pub query: &'a str,
    /// What is expected.
    pub gold: &'a Gold,
}

/// A response as an evaluator sees it.
#[derive(Debug, Clone, Copy)]
pub struct ResponseView<'a> {
    /// The hits, best first; empty unless [`Reads::results`].
    pub results: &'a [Hit],
    /// The answer; `None` where there is none, and unless [`Reads::answer`].
    pub answer: Option<&'a str>,
    /// What the answer rests on; empty unless [`Reads::answer`].
    pub citations: &'a [Citation],
    /// The texts of the hits in other forms, where several evaluators share them.
    passages: Option<&'a Passages<'a>>,
}

impl<'a> ResponseView<'a> {
    /// A response with these hits, answer and citations.
    pub fn new(results: &'a [Hit], answer: Option<&'a str>, citations: &'a [Citation]) -> Self {
        ResponseView { results, answer, citations, passages: None }
    }

    /// The same, with the forms of the hits' texts kept for whoever is shown `passages` next. They are those of the
    /// response's hits, in their order.
    pub fn sharing(self, passages: &'a Passages<'a>) -> Self {
        ResponseView { passages: Some(passages), ..self }
    }

    /// The texts of the response's hits, where several evaluators share them.
    pub(crate) fn shared(&self) -> Option<&'a Passages<'a>> {
        self.passages
    }
}

/// What an evaluator reads beside the gold. Its key holds the digests of that and of nothing else, and it is shown nothing
/// else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// The hits.
    pub results: bool,
    /// Of the hits only what they are and where they are from: an evaluator of single cases is shown their texts as empty.
    pub without_texts: bool,
    /// Of the answer only its text: an evaluator of single cases is shown no citations.
    pub without_citations: bool,
    /// Of the gold no evidence: an evaluator of single cases may be shown none.
    pub without_evidence: bool,
    /// The answer and its citations.
    pub answer: bool,
    /// Whether it scores where no answers are asked for, too; it is then shown none.
    pub answer_is_optional: bool,
    /// The question.
    pub question: bool,
}

impl Reads {
    /// Whether there is no score where no answers are asked for.
    pub fn needs_answer(self) -> bool {
        self.answer && !self.answer_is_optional
    }
}

/// What an evaluator says of itself in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its full name.
    pub pretty: Cow<'static, str>,
    /// One line on what it measures.
    pub description: Cow<'static, str>,
    /// Where it is defined.
    pub citation: Option<Cow<'static, str>>,
    /// Whether a higher value is a better one.
    pub higher_is_better: bool,
    /// The chat model that judges, where one does: its name at its provider.
    pub model: Option<String>,
}

/// A response with its case, and the key of both: all that a score depends on beside the evaluator.
#[derive(Debug, Clone, Copy)]
pub struct Scorable<'a> {
    /// The case.
    pub case: CaseView<'a>,
    /// The response; of several answers to one case each is one.
    pub response: ResponseView<'a>,
    /// Digest of what the evaluator reads of them.
    pub key: Digest,
    /// 0, or what `--force` puts into the keys of what is asked on the way, so that it is asked again.
    pub salt: u64,
}

/// Scores all responses of a unit at once: for evaluators that ask models or other programs on the way, each such call a
/// row of the context.
pub trait ScoreTogether: Send + Sync {
    /// A score or an error for each of `responses`, in their order. What one response gets depends on it alone.
    ///
    /// # Errors
    /// When the store fails, the run is interrupted, or nobody can be asked at all.
    fn score(
        &self,
        context: &dyn Context,
        responses: &[Scorable<'_>],
    ) -> Result<Vec<Result<Score, RowError>>, StageError>;
}

/// An evaluator with all its options.
pub trait Evaluator: Send + Sync {
    /// The canonical text of its specification: the column's name in reports.
    fn name(&self) -> String;

    /// What it says of itself.
    fn describe(&self) -> Description;

    /// What it reads.
    fn reads(&self) -> Reads;

    /// Visits all that its scores depend on beside what it reads and the gold: its name, its code version and every option,
    /// the defaults too.
    fn walk(&self, v: &mut dyn KeyVisitor);

    /// Scores one response. A case without gold of the needed kind is skipped, not scored 0.
    ///
    /// # Errors
    /// When gold or response are such that there is no right score.
    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let _ = (case, response);
        Err(RowError::new(RowErrorKind::Evaluator, "this evaluator scores all responses of a unit at once"))
    }

    /// The measure behind it, where the grades of the ranked documents and the judgements decide alone.
    fn measure(&self) -> Option<&dyn Measure> {
        None
    }

    /// The same evaluator as one that scores all responses of a unit at once; [`Evaluator::evaluate`] is not called then.
    fn together(&self) -> Option<&dyn ScoreTogether> {
        None
    }

    /// The program behind it, where it is one of a user's.
    fn program(&self) -> Option<&ProgramSpec> {
        None
    }
}
