//! Reciprocal rank fusion: several ranked lists made one (Cormack, Clarke and Buettcher 2009, with weights).

use std::collections::HashMap;

use crate::artifact::Hit;

/// What the lists say of one result.
struct Fused<'a> {
    hit: &'a Hit,
    /// `weight / (k + rank)` of each list that has it.
    shares: Vec<f64>,
    /// Its best rank, and the first list that gives it.
    best: (usize, usize),
}

/// The `top_k` best of ranked lists, each given with its weight: a result scores the sum of `weight / (k + rank)` over the
/// lists that have it, ranks from 1 (spec/heta 7). Results are the same when kind and id are.
///
/// The order is total: score, then best rank, then the first list that gives this rank. A result that a list repeats counts at
/// its first rank there; lists whose weight is not above 0 are left out. The copy that is kept is the one with the best
/// rank, with the sum as its score.
pub(super) fn fuse(lists: &[(f64, &[Hit])], k: f64, top_k: usize) -> Vec<Hit> {
    let mut fused: Vec<Fused<'_>> = Vec::new();
    let mut known: HashMap<(&str, &str), (usize, usize)> = HashMap::new();
    for (list, (weight, hits)) in lists.iter().enumerate().filter(|(_, (weight, _))| *weight > 0.0) {
        for (hit, rank) in hits.iter().zip(1..) {
            let share = weight / (k + rank as f64);
            let (position, last) = *known.entry((&hit.kind, &hit.id)).or_insert((fused.len(), usize::MAX));
            match fused.get_mut(position) {
                None => fused.push(Fused { hit, shares: vec![share], best: (rank, list) }),
                Some(_) if last == list => continue,
                Some(entry) => {
                    entry.shares.push(share);
                    if rank < entry.best.0 {
                        (entry.hit, entry.best) = (hit, (rank, list));
                    }
                }
            }
            known.insert((&hit.kind, &hit.id), (position, list));
        }
    }
    let mut scored: Vec<(f64, Fused<'_>)> = fused
        .into_iter()
        .map(|mut entry| {
            // By size, so that equal ranks in other lists are an equal sum, to the last bit.
            entry.shares.sort_by(|a, b| b.total_cmp(a));
            (entry.shares.iter().sum(), entry)
        })
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.best.cmp(&y.best)));
    scored.into_iter().take(top_k).map(|(score, entry)| Hit { score: Some(score), ..entry.hit.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::artifact::Json;

    fn hits(ids: &[&str]) -> Vec<Hit> {
        let hit = |(position, id): (usize, &&str)| Hit {
            id: id.to_string(),
            text: Arc::from(*id),
            score: Some(1.0 / (position + 1) as f64),
            kind: "chunk".to_string(),
            source: Arc::default(),
            metadata: Json::new(),
        };
        ids.iter().enumerate().map(hit).collect()
    }

    fn fused(lists: &[(f64, Vec<Hit>)], top_k: usize) -> Vec<(String, f64)> {
        let lists: Vec<(f64, &[Hit])> = lists.iter().map(|(weight, hits)| (*weight, hits.as_slice())).collect();
        fuse(&lists, 60.0, top_k).into_iter().map(|hit| (hit.id, hit.score.unwrap_or(f64::NAN))).collect()
    }

    fn ids(lists: &[(f64, Vec<Hit>)], top_k: usize) -> Vec<String> {
        fused(lists, top_k).into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn the_example_of_heta() {
        let fused = fused(&[(1.0, hits(&["c1", "c2", "c3"])), (1.0, hits(&["c3", "c4", "c1"]))], 10);
        let rounded: Vec<(&str, String)> =
            fused.iter().map(|(id, score)| (id.as_str(), format!("{score:.10}"))).collect();
        let expected = [("c1", "0.0322664585"), ("c3", "0.0322664585"), ("c2", "0.0161290323"), ("c4", "0.0161290323")];
        assert_eq!(rounded, expected.map(|(id, score)| (id, score.to_string())));
        assert_eq!(fused[0].1, fused[1].1);
    }

    #[test]
    fn weights_count_and_those_of_nothing_leave_a_list_out() {
        let lists = [(1.0, hits(&["a", "b"])), (2.0, hits(&["b", "a"])), (0.0, hits(&["z"]))];
        assert_eq!(
            fused(&lists, 10),
            [("b".to_string(), 2.0 / 61.0 + 1.0 / 62.0), ("a".to_string(), 2.0 / 62.0 + 1.0 / 61.0)]
        );
    }

    #[test]
    fn agreement_beats_one_good_rank_and_the_rest_is_cut() {
        let lists = [(1.0, hits(&["a", "x", "b"])), (1.0, hits(&["c", "x", "d"]))];
        assert_eq!(ids(&lists, 3), ["x", "a", "c"]);
    }

    #[test]
    fn ranks_in_other_lists_are_an_equal_sum() {
        // x: 1, 2, 3; y: 3, 1, 2; z: 2, 3, 1. Added up in the lists' order these sums need not be equal.
        let lists = [(1.0, hits(&["x", "z", "y"])), (1.0, hits(&["y", "x", "z"])), (1.0, hits(&["z", "y", "x"]))];
        let fused = fused(&lists, 10);
        assert!(fused.iter().all(|(_, score)| *score == fused[0].1));
        assert_eq!(ids(&lists, 10), ["x", "y", "z"]);
    }

    #[test]
    fn a_result_that_a_list_repeats_counts_once_there() {
        assert_eq!(
            fused(&[(1.0, hits(&["a", "a", "b"]))], 10),
            [("a".to_string(), 1.0 / 61.0), ("b".to_string(), 1.0 / 63.0)]
        );
    }

    #[test]
    fn kinds_are_told_apart_and_nothing_gives_nothing() {
        let mut other = hits(&["a"]);
        other[0].kind = "entity".to_string();
        assert_eq!(ids(&[(1.0, hits(&["a"])), (1.0, other)], 10), ["a", "a"]);
        assert!(ids(&[], 10).is_empty());
        assert!(ids(&[(1.0, hits(&["a"]))], 0).is_empty());
    }
}
