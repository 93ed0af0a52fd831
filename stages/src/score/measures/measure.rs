//! What a retrieval measure is.

use std::fmt;

use super::judged_ranking::{JudgedRanking, Judgements};

/// A measure of a ranking.
pub trait Measure: Send + Sync {
    /// The value for `ranking`; 0 where nothing is relevant, as in trec_eval. All but the counts are in [0, 1].
    fn value(&self, ranking: &JudgedRanking<'_>) -> f64;

    /// The bound of the grades for which the measure is defined; `None`: all.
    fn bound(&self) -> Option<GradeBound> {
        None
    }

    /// The least grade that counts as relevant.
    fn level(&self) -> i64;

    /// How many ranks count; `None`: all.
    fn cutoff(&self) -> Option<u32>;
}

/// The highest grade for which a measure is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GradeBound {
    /// The grade.
    pub highest: i64,
    /// What bounds it, as the end of a fragment: `(max_grade)`.
    pub by: &'static str,
}

impl GradeBound {
    /// Why a measure is not defined for `judgements`, as a fragment that names the first of `judged` (what is judged, with its
    /// grade) with the highest grade; `None` where that is within the bound.
    pub fn fault<N: fmt::Display>(
        &self,
        judgements: &Judgements,
        judged: impl IntoIterator<Item = (N, i64)>,
    ) -> Option<String> {
        // Most are within it, which takes no look at what is judged.
        let highest = *judgements.positive().first().filter(|highest| **highest > self.highest)?;
        let (name, grade) = judged.into_iter().find(|(_, grade)| *grade == highest)?;
        Some(format!("expected grades up to {} {}, found {grade} of {name}", self.highest, self.by))
    }
}
