//! From hits to a ranking of documents.
//!
//! A measure ranks documents, a knowledge base ranks passages. A document stands where its first passage stands, and later
//! passages of it take no rank. The order of the hits *is* the ranking: whoever made the response settled ties, so scores
//! are not looked at again. (trec_eval, which only has scores, orders by score and then by id; a run in its format is put
//! in that order before it comes here.)

use std::borrow::Cow;
use std::collections::HashSet;

use super::source::document_ids;
use crate::artifact::Hit;

/// The documents of `hits` in the order of first occurrence. A hit's document is the first of: an explicit benchmark
/// document id, `source.document_id`, the document in its `source_key` or `object_key`, the hit's own id.
pub(crate) fn documents(hits: &[Hit]) -> Vec<Cow<'_, str>> {
    let mut seen = HashSet::with_capacity(hits.len());
    let mut ranking = Vec::with_capacity(hits.len());
    for hit in hits {
        let document = document(hit);
        if seen.insert(document.clone()) {
            ranking.push(document);
        }
    }
    ranking
}

fn document(hit: &Hit) -> Cow<'_, str> {
    document_ids(hit).into_iter().next().unwrap_or(Cow::Borrowed(&hit.id))
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
        let ranking = documents(&hits);
        assert_eq!(ranking, ["a", "b", "c4", "e", "f"]);
        assert_eq!(top(&ranking, Some(2)), ["a", "b"]);
        assert_eq!(top(&ranking, Some(9)).len(), 5);
        assert_eq!(top(&ranking, None).len(), 5);
    }
}
