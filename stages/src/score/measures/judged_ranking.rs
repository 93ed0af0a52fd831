//! A ranking as measures see it: grades, whatever was ranked.

use crate::score::ranking::top;

/// How often each grade was given in the judgements of one case.
///
/// Grades below 0 are judged and gain nothing. trec_eval keeps -1 and -2 for documents that were not in the pool, or were in it
/// and not judged; only `bpref` and `infAP` tell these from a grade of 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgements {
    /// Highest first.
    positive: Vec<i64>,
    zero: usize,
    negative: usize,
}

impl Judgements {
    /// Whether nothing is judged.
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty() && self.zero == 0 && self.negative == 0
    }

    /// How many have a grade of `level` or more; `level` is at least 1.
    pub fn relevant(&self, level: i64) -> usize {
        self.positive.partition_point(|grade| *grade >= level)
    }

    /// How many have a grade from 0 to below `level`.
    pub fn nonrelevant(&self, level: i64) -> usize {
        self.zero + self.positive.len() - self.relevant(level)
    }

    /// All grades above 0, highest first.
    pub fn positive(&self) -> &[i64] {
        &self.positive
    }
}

impl FromIterator<i64> for Judgements {
    fn from_iter<I: IntoIterator<Item = i64>>(grades: I) -> Self {
        let mut judgements = Judgements::default();
        for grade in grades {
            match grade {
                1.. => judgements.positive.push(grade),
                0 => judgements.zero += 1,
                _ => judgements.negative += 1,
            }
        }
        judgements.positive.sort_unstable_by(|a, b| b.cmp(a));
        judgements
    }
}

/// The grade of everything that was ranked, best first, each thing once.
#[derive(Debug, Clone, Copy)]
pub struct JudgedRanking<'a> {
    /// Grades by rank; `None` for what is unjudged.
    pub grades: &'a [Option<i64>],
    /// All judgements of the case.
    pub judgements: &'a Judgements,
}

impl<'a> JudgedRanking<'a> {
    /// The first `cutoff` grades, or all.
    pub fn top(&self, cutoff: Option<u32>) -> &'a [Option<i64>] {
        top(self.grades, cutoff)
    }

    /// How many of the first `cutoff` have a grade of `level` or more.
    pub fn found(&self, cutoff: Option<u32>, level: i64) -> usize {
        self.top(cutoff).iter().filter(|grade| is_relevant(**grade, level)).count()
    }
}

/// Whether a grade is `level` or more.
pub(crate) fn is_relevant(grade: Option<i64>, level: i64) -> bool {
    grade.is_some_and(|grade| grade >= level)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::score::Qrels;
    use crate::score::measures::Measure;

    /// The value of `measure` for a ranking of documents.
    pub(crate) fn value(measure: &dyn Measure, ranking: &[&str], qrels: &Qrels) -> f64 {
        let grades: Vec<Option<i64>> = ranking.iter().map(|document| qrels.grade(document)).collect();
        measure.value(&JudgedRanking { grades: &grades, judgements: &qrels.judgements() })
    }

    #[test]
    fn judgements_are_counted() {
        let judgements: Judgements = [1, 0, 3, -1, 2, 1, 0, -2].into_iter().collect();
        assert_eq!(judgements.positive(), [3, 2, 1, 1]);
        assert_eq!((judgements.relevant(1), judgements.relevant(2), judgements.relevant(4)), (4, 2, 0));
        assert_eq!((judgements.nonrelevant(1), judgements.nonrelevant(3)), (2, 5));
        assert!(Judgements::default().is_empty() && !Judgements::from_iter([-1]).is_empty());
    }
}
