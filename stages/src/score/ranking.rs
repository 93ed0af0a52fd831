//! From hits to a ranking of documents, pages or chunks.
//!
//! A measure ranks documents, a knowledge base ranks passages. A document stands where its first passage stands, and later
//! passages of it take no rank. The order of the hits *is* the ranking: whoever made the response settled ties, so scores
//! are not looked at again. A run in TREC's format only has scores, and is put into trec_eval's order before it comes here
//! ([`trec_order`]).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use super::ranked_unit::RankedUnit;
use crate::artifact::Hit;

/// As many as are faster looked through than hashed.
const FEW: usize = 16;

/// The documents, pages or chunks of `hits` in the order of first occurrence.
pub(crate) fn ranking(hits: &[Hit], unit: RankedUnit) -> Vec<Cow<'_, str>> {
    let mut ranking: Vec<Cow<'_, str>> = Vec::with_capacity(hits.len());
    if hits.len() <= FEW {
        for hit in hits {
            let ranked = unit.of_hit(hit);
            if !ranking.contains(&ranked) {
                ranking.push(ranked);
            }
        }
        return ranking;
    }
    let mut seen = HashSet::with_capacity(hits.len());
    for hit in hits {
        let ranked = unit.of_hit(hit);
        if seen.insert(ranked.clone()) {
            ranking.push(ranked);
        }
    }
    ranking
}

/// The documents of `hits`, as retrieval measures rank them.
pub(crate) fn ranked_documents(hits: &[Hit]) -> Vec<Cow<'_, str>> {
    ranking(hits, RankedUnit::Document)
}

/// The order in which trec_eval ranks what a run gives a score: higher scores first, equal scores by id, the greater bytes
/// first. Scores are compared as 32-bit floats, as trec_eval 9 does, so that two which differ less are equal; 0 and -0 are
/// equal. A score that is no number comes last.
pub fn trec_order(a: (f64, &[u8]), b: (f64, &[u8])) -> Ordering {
    let (left, right) = (a.0 as f32, b.0 as f32);
    let by_score = match (left.is_nan(), right.is_nan()) {
        (false, false) => right.partial_cmp(&left).unwrap_or(Ordering::Equal),
        (left, right) => left.cmp(&right),
    };
    by_score.then_with(|| b.1.cmp(a.1))
}

/// The first `cutoff` of a ranking, or all of it.
pub(crate) fn top<T>(ranking: &[T], cutoff: Option<u32>) -> &[T] {
    let k = cutoff.map_or(ranking.len(), |k| ranking.len().min(k as usize));
    ranking.get(..k).unwrap_or(ranking)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_stand_where_their_first_passage_stands() {
        let hits: Vec<Hit> = serde_json::from_value(json!([
            {"id": "c1", "text": "", "source": {"document_id": "a"}},
            {"id": "c2", "text": "", "source": {"object_key": "raw/benchmarks/sea/test/b/b.txt"}},
            {"id": "c3", "text": "", "source": {"document_id": "a"}},
            {"id": "c4", "text": ""},
            {"id": "c5", "text": "", "source": {"document_id": "hash", "benchmark_document_id": "e"}},
            {"id": "c6", "text": "", "source": {"document_id": "hash"}, "metadata": {"beir_document_id": "f"}},
        ]))
        .expect("hits");
        let ranking = ranking(&hits, RankedUnit::Document);
        assert_eq!(ranking, ["a", "b", "c4", "e", "f"]);
        assert_eq!(top(&ranking, Some(2)), ["a", "b"]);
        assert_eq!(top(&ranking, Some(9)).len(), 5);
        assert_eq!(top(&ranking, None).len(), 5);
    }

    #[test]
    fn pages_and_chunks_are_ranked_too() {
        let hits: Vec<Hit> = serde_json::from_value(json!([
            {"id": "c1", "text": "", "source": {"document_id": "a", "page_index": 0}},
            {"id": "c2", "text": "", "source": {"document_id": "a", "page_index": 0}},
            {"id": "c3", "text": "", "source": {"document_id": "a", "page_index": 1}},
            {"id": "c3", "text": "", "source": {"document_id": "a"}},
        ]))
        .expect("hits");
        assert_eq!(ranking(&hits, RankedUnit::Page), ["a\u{0}0", "a\u{0}1", "c3\u{0}"]);
        assert_eq!(ranking(&hits, RankedUnit::Chunk), ["c1", "c2", "c3"]);
    }

    #[test]
    fn long_rankings_are_folded_too() {
        let hits: Vec<Hit> = (0..40)
            .map(|i| json!({"id": format!("c{i}"), "text": "", "source": {"document_id": format!("d{}", i % 20)}}))
            .map(|hit| serde_json::from_value(hit).expect("a hit"))
            .collect();
        let ranking = ranking(&hits, RankedUnit::Document);
        assert_eq!((ranking.len(), ranking.first().map(Cow::as_ref)), (20, Some("d0")));
    }

    #[test]
    fn trec_eval_orders_by_score_and_then_by_id_descending() {
        let mut run =
            [(1.0, "b"), (2.0, "a"), (1.0, "c"), (1.000_000_01, "a"), (-0.0, "y"), (0.0, "z"), (f64::NAN, "n")];
        run.sort_by(|a, b| trec_order((a.0, a.1.as_bytes()), (b.0, b.1.as_bytes())));
        assert_eq!(run.map(|(_, id)| id), ["a", "c", "b", "a", "z", "y", "n"]);
    }
}
