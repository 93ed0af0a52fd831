//! `evidence_recall@k`: how much of the gold evidence the first k results hold.
//!
//! # Matching
//!
//! A piece of evidence is found when any single result matches it. A piece may carry up to three labels; for each result,
//! the first label *that both sides carry* decides, and later ones are not looked at:
//!
//! 1. **locator**: carried when it has a value and the result has a value for every one of its keys (`locator.rs` has the
//!    keys). A `document_id` means the benchmark's document id.
//! 2. **reference id**: carried when the result has any id. It matches the result's own id, one of its `chunk_ids`, its
//!    document's id or one of its source keys.
//! 3. **text**: carried when neither text is blank. It matches when the result's text holds the gold text, both in normal
//!    form; a result that is only a part of the gold text is no match.
//!
//! `variant=heta` matches as Heta Evaluation does (spec/heta 5.1): locator and text must both hold, the reference id counts
//! only where there is neither, and texts match in both directions.

use std::borrow::Cow;

use ragstage_cache::KeyVisitor;

use super::definition::{CutoffRule, Definition, VARIANT};
use super::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use super::identity::Identity;
use super::locator::{chunk_ids, decide, heta_holds};
use super::normal::normal_form;
use super::ranking::top;
use super::source::{DOCUMENT_ID, DOCUMENT_IDS, KEY, KEYS, document_ids, texts};
use super::text_match::{Passage, Passages};
use crate::artifact::{Evidence, Hit, Json, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};

struct EvidenceRecall {
    identity: Identity,
    heta: bool,
}

pub(crate) static EVIDENCE_RECALL: Definition = Definition {
    name: "evidence_recall",
    pretty: "Evidence Recall at k",
    description: "share of the pieces of gold evidence that one of the first k results matches",
    citation: None,
    higher_is_better: true,
    other_names: &["evidence", "context_recall", "evidencerecall"],
    cutoff: CutoffRule::Default(5),
    parameters: &[VARIANT],
    code_version: 1,
    build: |identity| {
        let heta = identity.is("variant", "heta");
        Ok(Box::new(EvidenceRecall { identity, heta }))
    },
};

impl Evaluator for EvidenceRecall {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let evidence = &case.gold.evidence;
        if evidence.is_empty() {
            return Ok(Score::skipped("the case has no gold evidence"));
        }
        let passages = Passages::new(top(response.results, self.identity.cutoff));
        let mut found: Vec<usize> = Vec::new();
        let mut missing: Vec<usize> = Vec::new();
        let mut references: Vec<&str> = Vec::new();
        for (i, piece) in evidence.iter().enumerate() {
            let text = piece.text.as_deref().map(normal_form).unwrap_or_default();
            let mut matched = false;
            for passage in passages.iter() {
                matched = if self.heta { heta_matches(piece, &text, passage)? } else { matches(piece, &text, passage) };
                if matched {
                    break;
                }
            }
            if matched {
                found.push(i);
                references.extend(piece.reference_id.as_deref());
            } else {
                missing.push(i);
            }
        }
        let value = found.len() as f64 / evidence.len() as f64;
        let mut detail = Json::new();
        detail.insert("matched".to_string(), found.len().into());
        detail.insert("expected".to_string(), evidence.len().into());
        detail.insert("matched_reference_ids".to_string(), references.into());
        detail.insert("found".to_string(), found.into());
        detail.insert("missing".to_string(), missing.into());
        Ok(Score::scored(ScoreValue::Number(value), None, detail))
    }
}

/// `text` is the piece's text in normal form, empty where it has none.
pub(crate) fn matches(piece: &Evidence, text: &str, passage: Passage<'_>) -> bool {
    if let Some(decision) = decide(&piece.locator, passage.hit) {
        return decision;
    }
    if let Some(reference) = piece.reference_id.as_deref().filter(|reference| !reference.trim().is_empty()) {
        let ids = ids(passage.hit);
        if !ids.is_empty() {
            return ids.iter().any(|id| id == reference);
        }
    }
    passage.holds(text)
}

/// All that a reference id may mean.
pub(crate) fn ids(hit: &Hit) -> Vec<Cow<'_, str>> {
    let mut ids = chunk_ids(hit);
    ids.extend(document_ids(hit));
    ids.extend(texts(hit, &KEY, &KEYS));
    ids
}

fn heta_matches(piece: &Evidence, text: &str, passage: Passage<'_>) -> Result<bool, RowError> {
    let hit = passage.hit;
    let located = || heta_holds(&piece.locator, hit).map_err(|why| RowError::new(RowErrorKind::Evaluator, why));
    match (piece.locator.is_empty(), &piece.text, &piece.reference_id) {
        (false, Some(_), _) => Ok(located()? && passage.overlaps(text)),
        (false, None, _) => located(),
        (true, Some(_), _) => Ok(passage.overlaps(text)),
        (true, None, Some(reference)) => Ok(*reference == hit.id
            || texts(hit, &DOCUMENT_ID, &DOCUMENT_IDS).iter().any(|id| id == reference)
            || texts(hit, &KEY, &KEYS).iter().any(|key| key == reference)),
        (true, None, None) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::{Gold, ScoreState};
    use crate::score::{EvaluatorSpec, evaluator};

    fn score(text: &str, evidence: Value, hits: Value) -> Result<Score, RowError> {
        let spec = EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let evaluator = evaluator(&spec).unwrap_or_else(|error| panic!("{error}"));
        let gold = Gold { evidence: serde_json::from_value(evidence).expect("evidence"), ..Gold::default() };
        let results: Vec<Hit> = serde_json::from_value(hits).expect("hits");
        let case = CaseView { case_id: "q", query: "", gold: &gold };
        evaluator.evaluate(&case, &ResponseView { results: &results, answer: None, citations: &[] })
    }

    fn value(text: &str, evidence: Value, hits: Value) -> Option<f64> {
        score(text, evidence, hits).expect("a score").value.and_then(|value| value.number())
    }

    #[test]
    fn the_first_label_that_both_sides_carry_decides() {
        let hit = json!([{"id": "c7", "text": "At the pier: HIGH tide\nat noon.", "source": {"document_id": "d"}}]);
        let cases = [
            // The locator decides, whatever reference id and text say.
            (json!({"locator": {"document_id": "d"}, "reference_id": "x", "text": "y"}), 1.0),
            (json!({"locator": {"document_id": "e"}, "reference_id": "c7", "text": "high tide"}), 0.0),
            // The hit knows no page: the reference id decides.
            (json!({"locator": {"page_index": 3}, "reference_id": "c7", "text": "y"}), 1.0),
            (json!({"locator": {"page_index": 3}, "reference_id": "d"}), 1.0),
            (json!({"locator": {"page_index": 3}, "reference_id": "x", "text": "high tide"}), 0.0),
            // Without a reference id the text does.
            (json!({"locator": {"page_index": 3}, "text": "high tide at noon"}), 1.0),
            (json!({"text": "high tide at noon, low tide at dusk. At the pier: high tide at noon."}), 0.0),
            (json!({"text": "  "}), 0.0),
            (json!({"reference_id": " ", "text": "high tide"}), 1.0),
        ];
        for (piece, expected) in cases {
            assert_eq!(value("evidence_recall", json!([piece]), hit.clone()), Some(expected), "{piece}");
        }
    }

    #[test]
    fn detail_says_what_was_found_and_what_was_not() {
        let evidence = json!([
            {"reference_id": "d1", "locator": {"document_id": "d1"}},
            {"reference_id": "d3"},
            {"text": "tide"},
        ]);
        let hits = json!([
            {"id": "c1", "text": "tides", "source": {"document_id": "d1"}},
            {"id": "c2", "text": "", "source": {"document_id": "d2"}},
            {"id": "c3", "text": "", "source": {"document_id": "d3"}},
        ]);
        let score = score("evidence_recall@2", evidence.clone(), hits.clone()).expect("a score");
        assert_eq!(score.value, Some(ScoreValue::Number(2.0 / 3.0)));
        let detail =
            json!({"matched": 2, "expected": 3, "matched_reference_ids": ["d1"], "found": [0, 2], "missing": [1]});
        assert_eq!(Value::Object(score.detail), detail);
        assert_eq!(value("evidence_recall@3", evidence, hits), Some(1.0));
    }

    #[test]
    fn without_evidence_a_case_is_skipped() {
        for text in ["evidence_recall", "evidence_recall(variant=heta)"] {
            let score = score(text, json!([]), json!([])).expect("a score");
            assert_eq!(score.state, ScoreState::Skipped);
        }
        assert_eq!(value("evidence_recall", json!([{"text": "x"}]), json!([])), Some(0.0));
    }

    #[test]
    fn the_variant_differs_where_heta_does() {
        let part = json!([{"id": "c", "text": "a", "source": {"document_id": "d"}}]);
        let both = |piece: Value| {
            let value = |text: &str| value(text, json!([piece]), part.clone());
            (value("evidence_recall"), value("evidence_recall(variant=heta)"))
        };
        assert_eq!(both(json!({"text": "a lighthouse"})), (Some(0.0), Some(1.0)));
        assert_eq!(both(json!({"locator": {"document_id": "d"}, "text": "z"})), (Some(1.0), Some(0.0)));
        assert_eq!(both(json!({"reference_id": "c", "text": "z"})), (Some(1.0), Some(0.0)));
    }
}
