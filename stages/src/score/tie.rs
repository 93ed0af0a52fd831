//! Results that share a score where a ranking is cut off.

use crate::artifact::Hit;

/// Whether the results at ranks `k` and `k` + 1 (from 1) have equal scores: then who made the response settled by some other
/// order which of them is among the first `k`, and so what a measure at that cut-off is worth. Results without scores, and
/// scores that are no numbers, tie with nothing.
pub fn ties_at(hits: &[Hit], k: u32) -> bool {
    let at = |index: usize| hits.get(index).and_then(|hit| hit.score);
    let k = k as usize;
    match (k.checked_sub(1).and_then(at), at(k)) {
        (Some(last), Some(next)) => last == next,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_scores_on_both_sides_of_the_cut_decide() {
        let scores = [Some(3.0), Some(2.0), Some(2.0), Some(1.0), None, Some(0.0), Some(-0.0)];
        let hits: Vec<Hit> = scores
            .iter()
            .map(|score| serde_json::from_value(json!({"id": "c", "text": "", "score": score})).expect("a hit"))
            .collect();
        let tied: Vec<u32> = (0..9).filter(|k| ties_at(&hits, *k)).collect();
        assert_eq!(tied, [2, 6]);
        assert!(!ties_at(&[], 1));
    }
}
