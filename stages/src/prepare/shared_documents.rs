//! Which cases are not independent, because their gold evidence is in the same documents.

use std::collections::HashMap;

use crate::artifact::{Documents, Evidence, Gold, Golds};

/// For each case the rows of its gold documents, in the order in which its evidence names them.
///
/// A gold document is one of `documents` whose id or source key is a reference id or a locator's `document_id` or
/// `source_key`. Judgements of 0 and less name none.
pub(super) fn gold_documents(documents: &Documents, golds: &Golds) -> Vec<Vec<usize>> {
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for (row, document) in documents.rows.iter().enumerate() {
        rows.insert(&document.source_key, row);
        rows.insert(&document.document_id, row);
    }
    golds.rows.iter().map(|gold| named(gold).filter_map(|id| rows.get(id).copied()).collect()).collect()
}

/// A group of cases may have one in this many.
const LARGEST: usize = 10;

/// For each case the first case that it shares a gold document with, directly or through others: itself where it shares none.
/// Empty where no two cases do, and where more than a tenth of all go together: draws of so uneven groups say little.
pub(super) fn clusters(documents: &Documents, golds: &Golds) -> Vec<u32> {
    let mut forest = Forest((0..golds.rows.len()).collect());
    let mut first_of_document: HashMap<usize, usize> = HashMap::new();
    for (case, documents) in gold_documents(documents, golds).into_iter().enumerate() {
        for document in documents {
            let first = *first_of_document.entry(document).or_insert(case);
            forest.join(first, case);
        }
    }
    let roots: Vec<usize> = (0..golds.rows.len()).map(|case| forest.root(case)).collect();
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for root in &roots {
        *sizes.entry(*root).or_default() += 1;
    }
    let largest = sizes.values().copied().max().unwrap_or(0);
    if largest < 2 || largest * LARGEST > roots.len() {
        return Vec::new();
    }
    // A table of more than 2^32 cases fits in no memory.
    roots.into_iter().map(|root| u32::try_from(root).unwrap_or(u32::MAX)).collect()
}

/// What may be the names of documents in the gold of a case.
fn named(gold: &Gold) -> impl Iterator<Item = &str> {
    let relevant = |piece: &&Evidence| {
        piece.metadata.get("relevance").and_then(|grade| grade.as_f64()) > Some(0.0)
            || !piece.metadata.contains_key("relevance")
    };
    gold.evidence.iter().filter(relevant).flat_map(|piece| {
        let place = |key: &str| piece.locator.get(key).and_then(|value| value.as_str());
        [piece.reference_id.as_deref(), place("document_id"), place("source_key")].into_iter().flatten()
    })
}

/// Cases that go together, each under the first of them.
struct Forest(Vec<usize>);

impl Forest {
    fn root(&mut self, case: usize) -> usize {
        let mut root = case;
        while let Some(&parent) = self.0.get(root).filter(|parent| **parent != root) {
            root = parent;
        }
        // The next look is short.
        if let Some(parent) = self.0.get_mut(case) {
            *parent = root;
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(parent) = self.0.get_mut(one.max(other)) {
            *parent = one.min(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Document;

    fn document(id: &str) -> Document {
        Document {
            document_id: id.to_string(),
            name: format!("{id}.txt"),
            source_key: format!("raw/{id}"),
            media_type: "text/plain".to_string(),
            digest: None,
            size: None,
            source_uri: None,
            data: None,
            metadata: Default::default(),
        }
    }

    /// The clusters of cases with this gold evidence, the first of 100 of which the others have none.
    fn of(golds: serde_json::Value) -> Vec<u32> {
        let documents = Documents { rows: ["a", "b", "c", "d"].map(document).to_vec() };
        let mut golds: Vec<Vec<Evidence>> = serde_json::from_value(golds).expect("evidence of cases");
        let few = golds.len();
        golds.resize(100, Vec::new());
        let gold = |evidence| Gold { evidence, ..Gold::default() };
        let mut clusters = clusters(&documents, &Golds { rows: golds.into_iter().map(gold).collect() });
        if !clusters.is_empty() {
            assert_eq!(clusters.split_off(few), (few as u32..100).collect::<Vec<_>>(), "they share nothing");
        }
        clusters
    }

    #[test]
    fn cases_that_share_a_gold_document_go_together() {
        let golds = json!([
            [{"reference_id": "a"}],
            [{"locator": {"document_id": "b"}, "text": "t"}],
            [{"reference_id": "raw/a"}],
            [],
            [{"reference_id": "elsewhere"}],
            [{"reference_id": "b"}, {"reference_id": "c"}],
            [{"locator": {"source_key": "raw/c"}}],
        ]);
        assert_eq!(of(golds), [0, 1, 0, 3, 4, 1, 1]);
    }

    #[test]
    fn what_is_judged_irrelevant_is_shared_by_nobody() {
        let a = |grade: i32| json!([{"reference_id": "a", "metadata": {"relevance": grade}}]);
        assert_eq!(of(json!([a(1), a(2)])), [0, 0]);
        assert_eq!(of(json!([a(1), a(0)])), [0u32; 0]);
    }

    #[test]
    fn nothing_is_said_where_a_group_is_large() {
        let (a, b) = (json!([{"reference_id": "a"}]), json!([{"reference_id": "b"}]));
        assert_eq!(of(json!(vec![a.clone(); 10])), [0; 10]);
        assert_eq!(of(json!(vec![a.clone(); 11])), [0u32; 0]);
        assert_eq!(of(json!([a, b])), [0u32; 0]);
        assert_eq!(of(json!([])), [0u32; 0]);
    }
}
