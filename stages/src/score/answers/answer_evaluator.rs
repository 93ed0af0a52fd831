//! Evaluators that read the answer and nothing else, and differ in their rule alone.

use ragstage_cache::KeyVisitor;

use crate::artifact::Score;
use crate::error::RowError;
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;

/// Scores the answer of one response.
type AnswerRule = dyn Fn(&CaseView, &ResponseView) -> Result<Score, RowError> + Send + Sync;

/// An evaluator of answers.
pub(crate) struct AnswerEvaluator {
    identity: Identity,
    rule: Box<AnswerRule>,
}

impl AnswerEvaluator {
    /// The evaluator that goes by `rule`; the definition's version and the options stand for it in keys.
    pub(crate) fn boxed(
        identity: Identity,
        rule: impl Fn(&CaseView, &ResponseView) -> Result<Score, RowError> + Send + Sync + 'static,
    ) -> Box<dyn Evaluator> {
        Box::new(AnswerEvaluator { identity, rule: Box::new(rule) })
    }
}

impl Evaluator for AnswerEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { answer: true, without_citations: true, without_evidence: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        (self.rule)(case, response)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::{Citation, Evidence, Gold, Hit, ScoreValue};
    use crate::score::{EvaluatorSpec, definitions, evaluator};

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ -~İßςΣ五’–%]{0,24}",
            "\\PC{0,16}",
            Just("The answer is: (B) not mentioned, $1,234.5 million [1]".to_string()),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![Just(Value::Null), any::<f64>().prop_map(Value::from), text().prop_map(Value::from)]
    }

    proptest! {
        #[test]
        fn any_gold_and_any_answer_have_a_share_or_an_error(
            answers in prop::collection::vec(text(), 0..3),
            value in value(),
            labels in prop::option::of(prop::collection::vec(text(), 0..3)),
            answer in prop::option::of(text()),
        ) {
            let mut gold = Gold { answers, value, ..Gold::default() };
            gold.metadata.extend(labels.map(|labels| ("labels".to_string(), labels.into())));
            gold.evidence.push(Evidence { text: answer.clone(), ..Evidence::default() });
            let hits: Vec<Hit> = serde_json::from_value(json!([{"id": "c", "text": "tide"}])).expect("hits");
            let citations = ["c", "x"].map(|id| Citation {
                id: "citation_1".to_string(),
                result_id: Some(id.to_string()),
                source: Default::default(),
                text: answer.clone(),
            });
            let case = CaseView { case_id: "q", query: "", gold: &gold };
            let response = ResponseView::new(&hits, answer.as_deref(), &citations);
            for definition in definitions() {
                let spec = EvaluatorSpec { name: definition.name.into(), cutoff: None, options: Default::default() };
                let Ok(evaluator) = evaluator(&spec) else { continue };
                if !evaluator.reads().answer {
                    continue;
                }
                let Ok(score) = evaluator.evaluate(&case, &response) else { continue };
                let most = if definition.name == "answer_length" { f64::MAX } else { 1.0 };
                if let Some(value) = score.value.as_ref().and_then(ScoreValue::number) {
                    prop_assert!((0.0..=most).contains(&value), "{} is {value}", evaluator.name());
                }
            }
        }
    }
}
