//! The rows that may be among the nearest, by rough scores.

use std::cmp::Ordering;

/// Collects the rows whose rough scores are not more than a margin below the `top_k`-th best one, and those whose scores are no
/// numbers.
pub(super) struct Shortlist {
    top_k: usize,
    margin: f32,
    /// The `top_k` best scores so far, a heap with the lowest first.
    best: std::collections::BinaryHeap<std::cmp::Reverse<Rough>>,
    threshold: f32,
    kept: Vec<(f32, u32)>,
    /// How many may be kept before those under the threshold are thrown out.
    room: usize,
}

/// A rough score that is a number.
#[derive(PartialEq)]
struct Rough(f32);

impl Eq for Rough {}

impl PartialOrd for Rough {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rough {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

const ROOM: usize = 1024;

/// Whether a score under a threshold rules its row out. What is no number is not under it: it must be scored again.
#[inline]
pub(super) fn rules_out(score: f32, threshold: f32) -> bool {
    score < threshold
}

impl Shortlist {
    /// An empty one.
    pub fn new(top_k: usize, margin: f32) -> Self {
        let threshold = if top_k == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        let room = ROOM.max(top_k.saturating_mul(2));
        Shortlist { top_k, margin, best: Default::default(), threshold, kept: Vec::new(), room }
    }

    /// Rows of lower scores are not wanted.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Takes a row, unless its score is under the threshold.
    pub fn offer(&mut self, row: u32, score: f32) {
        if self.top_k == 0 || rules_out(score, self.threshold) {
            return;
        }
        self.kept.push((score, row));
        // Infinite scores say as little of a row as those that are no numbers.
        if score.is_finite() {
            self.rank(score);
        }
        if self.kept.len() >= self.room {
            let threshold = self.threshold;
            self.kept.retain(|(score, _)| !rules_out(*score, threshold));
            self.room = ROOM.max(self.kept.len().saturating_mul(2));
        }
    }

    fn rank(&mut self, score: f32) {
        if self.best.len() < self.top_k {
            self.best.push(std::cmp::Reverse(Rough(score)));
        } else if self.best.peek().is_some_and(|lowest| lowest.0.0 < score) {
            self.best.pop();
            self.best.push(std::cmp::Reverse(Rough(score)));
        } else {
            return;
        }
        if let Some(lowest) = self.best.peek().filter(|_| self.best.len() == self.top_k) {
            self.threshold = lowest.0.0 - self.margin;
        }
    }

    /// The rows of several lists that are on the list of them all.
    pub fn merged<'a>(top_k: usize, margin: f32, lists: impl Iterator<Item = &'a Shortlist>) -> Vec<u32> {
        let mut all = Shortlist::new(top_k, margin);
        for (score, row) in lists.flat_map(|list| &list.kept) {
            all.offer(*row, *score);
        }
        let threshold = all.threshold;
        all.kept.into_iter().filter(|(score, _)| !rules_out(*score, threshold)).map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(top_k: usize, margin: f32, scores: &[f32]) -> Vec<u32> {
        let mut list = Shortlist::new(top_k, margin);
        scores.iter().zip(0..).for_each(|(score, row)| list.offer(row, *score));
        Shortlist::merged(top_k, margin, [&list].into_iter())
    }

    #[test]
    fn what_is_within_the_margin_of_the_last_wanted_stays() {
        let scores = [0.1, 0.9, 0.5, 0.75, 0.25];
        assert_eq!(listed(2, 0.0, &scores), [1, 3]);
        assert_eq!(listed(2, 0.25, &scores), [1, 2, 3]);
        assert_eq!(listed(9, 0.0, &scores), [0, 1, 2, 3, 4]);
        assert!(listed(0, 1.0, &scores).is_empty());
    }

    #[test]
    fn scores_that_say_nothing_stay_and_raise_no_threshold() {
        assert_eq!(listed(1, 0.0, &[f32::NAN, 0.2, f32::INFINITY, 0.1]), [0, 1, 2]);
    }

    #[test]
    fn equal_scores_all_stay_however_many() {
        assert_eq!(listed(3, 0.0, &vec![0.5; 10 * ROOM]).len(), 10 * ROOM);
        let rising: Vec<f32> = (0..10 * ROOM).map(|i| i as f32).collect();
        assert_eq!(listed(3, 0.5, &rising), [10 * ROOM as u32 - 3, 10 * ROOM as u32 - 2, 10 * ROOM as u32 - 1]);
    }
}
