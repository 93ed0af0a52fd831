//! How right an answer is together with the facts that it rests on.

use super::agreement::{Agreement, harmonic_mean};
use crate::score::answers::Overlap;

/// An answer's agreement with the gold answer, and its facts' with the gold facts: both must be good (`eval` of HotpotQA's
/// `hotpot_evaluate_v1.py`).
#[derive(Debug, Clone)]
pub(super) struct Joint {
    /// Of the words of the answer, against the best gold answer.
    pub(super) answer: Overlap,
    /// Whether the answer is a gold answer.
    pub(super) is_answer: bool,
    /// Of the facts.
    pub(super) facts: Agreement,
}

impl Joint {
    /// The product of both precisions.
    pub(super) fn precision(&self) -> f64 {
        self.answer.precision * self.facts.precision()
    }

    /// The product of both recalls.
    pub(super) fn recall(&self) -> f64 {
        self.answer.recall * self.facts.recall()
    }

    /// The harmonic mean of the two products.
    pub(super) fn f1(&self) -> f64 {
        harmonic_mean(self.precision(), self.recall())
    }

    /// Whether both are just right.
    pub(super) fn is_exact(&self) -> bool {
        self.is_answer && self.facts.is_exact()
    }
}
