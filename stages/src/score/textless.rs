//! Results whose texts nobody kept.

use crate::artifact::Hit;

/// Why an evaluator that reads the texts of results gives no score: a 0 would say that nothing of use was found.
pub(super) const WITHOUT_TEXTS: &str = "the results have no texts";

/// Whether something was found and all of it has an id and no text, as where responses were made elsewhere and only ids were kept.
pub(super) fn are_textless(hits: &[Hit]) -> bool {
    !hits.is_empty() && hits.iter().all(|hit| hit.text.trim().is_empty() && !hit.id.is_empty())
}
