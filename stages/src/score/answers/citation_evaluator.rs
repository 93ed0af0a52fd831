//! Evaluators of what answers cite, against the gold evidence.
//!
//! Evidence matches a cited result as it matches a retrieved one (`evidence/matcher.rs`). This says whether the answer rests on the
//! right passages, not whether its sentences follow from them: that is for judges.

use ragstage_cache::KeyVisitor;

use super::citations::cited;
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::RowError;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::evidence::{Findings, Matcher};
use crate::score::identity::Identity;
use crate::score::text_match::Passages;

/// How citations and evidence agree.
pub(super) struct CitationAgreement {
    /// Results that are cited, each once.
    pub(super) cited: usize,
    /// Those of them that hold evidence.
    pub(super) supported: usize,
    /// Pieces of evidence, at least one.
    pub(super) expected: usize,
    /// Places of the pieces that a cited result holds.
    pub(super) found: Vec<usize>,
}

/// An evaluator of citations.
pub(super) struct CitationEvaluator {
    identity: Identity,
    value: fn(&CitationAgreement) -> Option<f64>,
}

impl CitationEvaluator {
    /// The evaluator of `value`, which is `None` where there is nothing to measure.
    pub(super) fn boxed(identity: Identity, value: fn(&CitationAgreement) -> Option<f64>) -> Box<dyn Evaluator> {
        Box::new(CitationEvaluator { identity, value })
    }
}

impl Evaluator for CitationEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, answer: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let evidence = &case.gold.evidence;
        if evidence.is_empty() {
            return Ok(Score::skipped("the case has no gold evidence"));
        }
        let cited = cited(response);
        let findings = Findings::of(&Matcher::default(), evidence, &Passages::new(&cited), cited.len(), true)?;
        let agreement = CitationAgreement {
            cited: cited.len(),
            supported: findings.matching.len(),
            expected: evidence.len(),
            found: findings.found(),
        };
        let Some(value) = (self.value)(&agreement) else {
            return Ok(Score::skipped("the answer cites nothing"));
        };
        let CitationAgreement { cited, supported, expected, found } = agreement;
        let mut detail = Json::new();
        detail.insert("cited".to_string(), cited.into());
        detail.insert("supported".to_string(), supported.into());
        detail.insert("expected".to_string(), expected.into());
        detail.insert("found".to_string(), found.into());
        Ok(Score::scored(ScoreValue::Number(value), None, detail))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::{Citation, Gold, Hit};
    use crate::score::{EvaluatorSpec, evaluator};

    fn score(text: &str, evidence: Value, citations: Value) -> Score {
        let evaluator = evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator");
        let gold = Gold { evidence: serde_json::from_value(evidence).expect("evidence"), ..Gold::default() };
        let hits = json!([
            {"id": "c1", "text": "High TIDE at noon.", "source": {"document_id": "d1"}},
            {"id": "c2", "text": "Nothing.", "source": {"document_id": "d2"}},
        ]);
        let hits: Vec<Hit> = serde_json::from_value(hits).expect("hits");
        let citations: Vec<Citation> = serde_json::from_value(citations).expect("citations");
        let response = ResponseView::new(&hits, Some("at noon [1]"), &citations);
        evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).expect("a score")
    }

    fn both(evidence: Value, citations: Value) -> (Option<f64>, Option<f64>) {
        let value =
            |text: &str| score(text, evidence.clone(), citations.clone()).value.and_then(|value| value.number());
        (value("citation_precision"), value("citation_recall"))
    }

    #[test]
    fn by_hand() {
        let evidence = json!([{"text": "high tide"}, {"reference_id": "d3"}, {"locator": {"document_id": "d9"}}]);
        // Two citations of one result are one.
        let citations = json!([
            {"id": "citation_1", "result_id": "c1"},
            {"id": "citation_2", "result_id": "c2"},
            {"id": "citation_3", "result_id": "c1"},
        ]);
        assert_eq!(both(evidence.clone(), citations), (Some(0.5), Some(1.0 / 3.0)));
        // A citation of what was not retrieved stands for itself.
        let own = json!([{"id": "citation_1", "result_id": "x", "source": {"document_id": "d3"}, "text": "high tide"}]);
        assert_eq!(both(evidence.clone(), own), (Some(1.0), Some(2.0 / 3.0)));
        assert_eq!(both(evidence.clone(), json!([])), (None, Some(0.0)));
        assert_eq!(both(json!([]), json!([])), (None, None));
        let score = score("citation_recall", evidence, json!([{"id": "citation_1", "result_id": "c1"}]));
        assert_eq!(json!(score.detail), json!({"cited": 1, "supported": 1, "expected": 3, "found": [0]}));
    }
}
