//! What the evaluators of evidence share: all but their value.

use ragstage_cache::KeyVisitor;

use super::findings::Findings;
use super::matcher::Matcher;
use crate::artifact::{Score, ScoreValue};
use crate::error::RowError;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;
use crate::score::ranking::top;
use crate::score::text_match::Passages;
use crate::score::textless::{WITHOUT_TEXTS, are_textless};

/// The value of what was found among the first k results.
pub(super) enum EvidenceValue {
    /// A number of which pieces were found and where.
    Pieces(fn(&Findings, Option<u32>) -> f64),
    /// A number of which results match a piece; they are kept beside it.
    Results(fn(&Findings, Option<u32>) -> f64),
}

/// An evaluator of which gold evidence the results hold.
pub(super) struct EvidenceEvaluator {
    identity: Identity,
    matcher: Matcher,
    value: EvidenceValue,
}

impl EvidenceEvaluator {
    /// # Errors
    /// When options do not go together.
    pub(super) fn build(identity: Identity, value: EvidenceValue) -> Result<Box<dyn Evaluator>, String> {
        let matcher = Matcher::of(&identity)?;
        Ok(Box::new(EvidenceEvaluator { identity, matcher, value }))
    }
}

impl Evaluator for EvidenceEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, without_texts: !self.matcher.reads_texts(), ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let evidence = &case.gold.evidence;
        if evidence.is_empty() {
            return Ok(Score::skipped("the case has no gold evidence"));
        }
        if self.matcher.needs_texts(evidence) && are_textless(response.results) {
            return Ok(Score::skipped(WITHOUT_TEXTS));
        }
        let (value, with_matching) = match self.value {
            EvidenceValue::Pieces(value) => (value, false),
            EvidenceValue::Results(value) => (value, true),
        };
        let hits = top(response.results, self.identity.cutoff);
        let own;
        let passages = match response.shared() {
            Some(shared) => shared,
            None => {
                own = Passages::new(hits);
                &own
            }
        };
        let findings = Findings::of(&self.matcher, evidence, passages, hits.len(), with_matching)?;
        if findings.pieces.is_empty() {
            let label = self.matcher.label().unwrap_or("label");
            return Ok(Score::skipped(format!("no gold evidence of the case has a {label}")));
        }
        let mut detail = findings.detail(evidence);
        if with_matching {
            detail.insert("matching_ranks".to_string(), findings.matching.clone().into());
        }
        let value = value(&findings, self.identity.cutoff);
        Ok(Score::scored(ScoreValue::Number(value), None, detail))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::{Gold, Hit, ScoreState};
    use crate::score::{EvaluatorSpec, evaluator};

    fn make(text: &str) -> Result<Box<dyn Evaluator>, String> {
        let spec = EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}"));
        evaluator(&spec).map_err(|error| error.message)
    }

    pub(in super::super) fn score(text: &str, evidence: Value, hits: Value) -> Score {
        let gold = Gold { evidence: serde_json::from_value(evidence).expect("evidence"), ..Gold::default() };
        let results: Vec<Hit> = serde_json::from_value(hits).expect("hits");
        let case = CaseView { case_id: "q", query: "", gold: &gold };
        let evaluator = make(text).unwrap_or_else(|error| panic!("{error}"));
        let response = ResponseView::new(&results, None, &[]);
        evaluator.evaluate(&case, &response).expect("a score")
    }

    pub(in super::super) fn value(text: &str, evidence: Value, hits: Value) -> Option<f64> {
        score(text, evidence, hits).value.and_then(|value| value.number())
    }

    #[test]
    fn detail_says_what_was_found_where_and_what_was_not() {
        let evidence = json!([
            {"reference_id": "d1", "locator": {"document_id": "d1"}},
            {"reference_id": "d3"},
            {"text": "tide"},
        ]);
        let hits = json!([
            {"id": "c1", "text": "", "source": {"document_id": "d2"}},
            {"id": "c2", "text": "tides", "source": {"document_id": "d1"}},
            {"id": "c3", "text": "", "source": {"document_id": "d3"}},
        ]);
        let two = score("evidence_recall@2", evidence.clone(), hits.clone());
        assert_eq!(two.value, Some(ScoreValue::Number(2.0 / 3.0)));
        let detail = json!({
            "matched": 2, "expected": 3, "matched_reference_ids": ["d1"], "found": [0, 2], "ranks": [2, 2], "missing": [1],
        });
        assert_eq!(json!(two.detail), detail);
        assert_eq!(value("evidence_recall@3", evidence.clone(), hits.clone()), Some(1.0));
        let by_text = score("evidence_precision(match=text)@2", evidence, hits);
        let detail = json!({
            "matched": 1, "expected": 1, "matched_reference_ids": [], "found": [2], "ranks": [2], "missing": [],
            "unjudged": [0, 1], "matching_ranks": [2],
        });
        assert_eq!(json!(by_text.detail), detail);
    }

    #[test]
    fn without_evidence_a_case_is_skipped() {
        for text in ["evidence_recall", "evidence_recall(variant=heta)", "evidence_precision", "evidence_ndcg"] {
            assert_eq!(score(text, json!([]), json!([])).state, ScoreState::Skipped);
            assert_eq!(value(text, json!([{"text": "x"}]), json!([])), Some(0.0));
        }
        let skipped = score("evidence_recall(match=locator)", json!([{"text": "x"}]), json!([]));
        assert_eq!(skipped.reason.as_deref(), Some("no gold evidence of the case has a locator"));
    }

    #[test]
    fn options_that_others_make_void_are_refused() {
        let cases = [
            ("evidence_recall(match=text,variant=heta)", "variant=heta of evidence_recall fixes match"),
            (
                "evidence_ndcg(match=locator,text=exact)",
                "evidence_ndcg looks at no text with that match: leave out text",
            ),
            ("evidence_recall(threshold=0.5)", "threshold of evidence_recall needs text=cover"),
            ("evidence_recall(minimum=2,text=exact)", "minimum of evidence_recall needs text=cover"),
            (
                "evidence_precision(text=cover,threshold=1.5)",
                "option threshold of evidence_precision must be a number from 0 to 1, found 1.5",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(make(text).err().as_deref(), Some(message), "{text}");
        }
        let name = |text: &str| make(text).map(|evaluator| evaluator.name());
        assert_eq!(name("evidence_recall(threshold=0.8,match=all)"), Ok("evidence_recall@5".to_string()));
    }

    #[test]
    fn texts_are_not_read_where_they_do_not_count() {
        let blind = |text: &str| make(text).expect("an evaluator").reads().without_texts;
        assert!(blind("evidence_recall(match=locator)") && blind("evidence_ndcg(match=reference)"));
        assert!(!blind("evidence_recall") && !blind("evidence_recall(match=text)"));
    }
}
