//! What a retrieval measure is.

use super::judged_ranking::{JudgedRanking, Judgements};

/// A measure of a ranking.
pub trait Measure: Send + Sync {
    /// The value for `ranking`; 0 where nothing is relevant, as in trec_eval. All but the counts are in [0, 1].
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64;

    /// Whether the measure is defined for these judgements.
    ///
    /// # Errors
    /// Why it is not, as a fragment.
    fn check(&self, _judgements: &Judgements) -> Result<(), String> {
        Ok(())
    }

    /// The least grade that counts as relevant.
    fn level(&self) -> i64;

    /// How many ranks count; `None`: all.
    fn cutoff(&self) -> Option<u32>;
}
