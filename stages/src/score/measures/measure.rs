//! What a retrieval measure is.

use crate::score::Qrels;

/// A measure of a ranking.
pub trait Measure: Send + Sync {
    /// The value in [0, 1] for `ranking` (document ids, best first, each once). 0 where nothing is relevant, as in
    /// trec_eval.
    fn value(&self, ranking: &[&str], qrels: &Qrels) -> f64;

    /// Whether the measure is defined for these judgements.
    ///
    /// # Errors
    /// Why it is not, as a fragment.
    fn check(&self, _qrels: &Qrels) -> Result<(), String> {
        Ok(())
    }

    /// The least grade that counts as relevant.
    fn level(&self) -> i64;
}
