//! The evaluator around a retrieval measure: from gold and hits to judgements and a ranking.

use std::borrow::Cow;

use ragstage_cache::KeyVisitor;

use super::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use super::heta;
use super::identity::Identity;
use super::measures::{JudgedRanking, Measure, is_relevant};
use super::qrels::Qrels;
use super::ranked_unit::{RankedUnit, shown};
use super::ranking::ranking;
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};

/// Ranks that count in Heta Evaluation where no cut-off is given.
const HETA_CUTOFF: u32 = 10;

/// A retrieval measure over the documents, pages or chunks of a response (`ranking.rs`) and the judgements of a case
/// ([`Qrels::of`]), or over what Heta Evaluation takes for them (`heta.rs`).
pub(crate) struct RetrievalEvaluator {
    identity: Identity,
    heta: bool,
    unit: RankedUnit,
    measure: Box<dyn Measure>,
}

impl RetrievalEvaluator {
    /// The evaluator of `measure`, which is told whether it is Heta's variant.
    ///
    /// # Errors
    /// When Heta's variant is asked for with an option that it does not have.
    pub(crate) fn build(
        mut identity: Identity,
        measure: impl FnOnce(&Identity, bool) -> Box<dyn Measure>,
    ) -> Result<Box<dyn Evaluator>, String> {
        let heta = identity.is("variant", "heta");
        if heta {
            let fixed = identity.changed("variant");
            if !fixed.is_empty() {
                return Err(format!("variant=heta of {} fixes {}", identity.definition.name, fixed.join(", ")));
            }
            identity.cutoff = identity.cutoff.or(Some(HETA_CUTOFF));
        }
        let measure = measure(&identity, heta);
        let unit = RankedUnit::of(&identity);
        Ok(Box::new(RetrievalEvaluator { identity, heta, unit, measure }))
    }
}

impl Evaluator for RetrievalEvaluator {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, without_texts: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let qrels = if self.heta { heta::qrels(case.gold) } else { Qrels::of_units(case.gold, self.unit)? };
        if qrels.is_empty() {
            return Ok(Score::skipped(format!("the case has no judged {}s", self.unit.noun())));
        }
        let judgements = qrels.judgements();
        let judged = qrels.iter().map(|(name, grade)| (format!("{} {:?}", self.unit.noun(), shown(name)), grade));
        if let Some(why) = self.measure.bound().and_then(|bound| bound.fault(&judgements, judged)) {
            return Err(RowError::new(RowErrorKind::Evaluator, why));
        }
        let units: Vec<Cow<'_, str>> = match self.heta {
            true => heta::ranking(response.results, self.identity.cutoff),
            false => ranking(response.results, self.unit),
        };
        let grades: Vec<Option<i64>> = units.iter().map(|unit| qrels.grade(unit)).collect();
        let judged = JudgedRanking { grades: &grades, judgements: &judgements };
        let level = self.measure.level();
        let counted = judged.top(self.identity.cutoff);
        let matched: Vec<String> = units
            .iter()
            .zip(counted)
            .filter(|(_, grade)| is_relevant(**grade, level))
            .map(|(unit, _)| shown(unit))
            .collect();
        let plural = format!("{}s", self.unit.noun());
        let mut detail = Json::new();
        detail.insert(format!("relevant_{plural}"), judgements.relevant(level).into());
        detail.insert(format!("retrieved_{plural}"), counted.len().into());
        detail.insert(format!("matched_{plural}"), matched.into());
        Ok(Score::scored(ScoreValue::Number(self.measure.value(&judged)), None, detail))
    }

    fn measure(&self) -> Option<&dyn Measure> {
        (!self.heta && self.unit == RankedUnit::Document).then_some(&*self.measure)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::{Evidence, Gold, Hit, ScoreState};
    use crate::score::{EvaluatorSpec, definitions, evaluator};

    fn score(text: &str, gold: &Gold, results: &[Hit]) -> Result<Score, RowError> {
        let spec = EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let evaluator = evaluator(&spec).unwrap_or_else(|error| panic!("{error}"));
        let case = CaseView { case_id: "q", query: "", gold };
        evaluator.evaluate(&case, &ResponseView::new(results, None, &[]))
    }

    fn hits(documents: &[&str]) -> Vec<Hit> {
        documents
            .iter()
            .enumerate()
            .map(|(i, document)| {
                serde_json::from_value(json!({"id": format!("c{i}"), "text": "t", "source": {"document_id": document}}))
                    .expect("a hit")
            })
            .collect()
    }

    fn gold(judgements: Value) -> Gold {
        let metadata = serde_json::from_value(json!({"judgements": judgements})).expect("metadata");
        Gold { metadata, ..Gold::default() }
    }

    #[test]
    fn chunks_are_folded_into_documents() {
        let gold = gold(json!({"a": 1, "b": 1, "x": 0}));
        let score = score("P@2", &gold, &hits(&["x", "x", "a", "b"])).expect("a score");
        assert_eq!(score.value, Some(ScoreValue::Number(0.5)));
        let detail = json!({"relevant_documents": 2, "retrieved_documents": 2, "matched_documents": ["a"]});
        assert_eq!(json!(score.detail), detail);
    }

    #[test]
    fn unjudged_cases_are_skipped_and_cases_with_nothing_relevant_are_not() {
        let skipped = score("AP", &Gold::default(), &hits(&["a"])).expect("a score");
        assert_eq!((skipped.state, skipped.value), (ScoreState::Skipped, None));
        let zero = score("AP", &gold(json!({"a": 0})), &hits(&["a"])).expect("a score");
        assert_eq!((zero.state, zero.value), (ScoreState::Scored, Some(ScoreValue::Number(0.0))));
        let zero = score("AP", &gold(json!({"a": 1})), &[]).expect("a score");
        assert_eq!((zero.state, zero.value), (ScoreState::Scored, Some(ScoreValue::Number(0.0))));
        assert!(score("AP", &gold(json!({"a": "high"})), &[]).is_err());
    }

    #[test]
    fn grades_whose_gain_no_number_holds_fail_the_case() {
        let judged = gold(json!({"a": 2000, "b": 3000}));
        let error = score("nDCG(gain=exp)@5", &judged, &hits(&["a"])).expect_err("no value");
        assert_eq!(error.message, "expected grades up to 1000 for the gain 2^grade - 1, found 3000 of document \"b\"");
        let error =
            score("ERR(max_grade=3)", &gold(json!({"a": 3, "b": 9, "c": 0})), &hits(&["a"])).expect_err("no value");
        assert_eq!(error.message, "expected grades up to 3 (max_grade), found 9 of document \"b\"");
        assert!(score("nDCG@5", &judged, &hits(&["a"])).is_ok());
        assert!(score("nDCG(gain=exp)@5", &gold(json!({"a": 1000, "b": 1000})), &hits(&["a"])).is_ok());
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-c/ ]{0,3}".prop_map(Value::String),
            Just(Value::from("raw/benchmarks/b/s/a/x")),
        ];
        leaf.prop_recursive(2, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-c]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn fields() -> impl Strategy<Value = Json> {
        let name = prop_oneof![
            Just("document_id"),
            Just("document_ids"),
            Just("source_key"),
            Just("object_keys"),
            Just("chunk_id"),
            Just("chunk_ids"),
            Just("source_key_prefix"),
            Just("origin"),
            Just("page_index"),
            Just("relevance"),
            Just("judgements"),
            Just("beir_document_id"),
            Just("origin_source_key"),
        ];
        prop::collection::btree_map(name.prop_map(String::from), json_value(), 0..5)
            .prop_map(|map| map.into_iter().collect())
    }

    fn any_gold() -> impl Strategy<Value = Gold> {
        let evidence = (prop::option::of("[a-c]{1}"), fields(), prop::option::of("[a-c ]{0,3}"), fields())
            .prop_map(|(reference_id, locator, text, metadata)| Evidence { reference_id, locator, text, metadata });
        let answers = prop::collection::vec("[ -~İßς]{0,6}", 0..3);
        (answers, prop::collection::vec(evidence, 0..4), json_value(), fields()).prop_map(
            |(answers, evidence, value, metadata)| Gold { answers, evidence, value, metadata, ..Gold::default() },
        )
    }

    fn any_hits() -> impl Strategy<Value = Vec<Hit>> {
        let hit = ("[a-c]{0,2}", "[a-c ]{0,4}", fields(), fields()).prop_map(|(id, text, source, metadata)| Hit {
            id,
            text: text.into(),
            score: None,
            kind: "chunk".to_string(),
            source: source.into(),
            metadata,
        });
        prop::collection::vec(hit, 0..6)
    }

    proptest! {
        #[test]
        fn every_evaluator_takes_any_gold_and_any_response(
            gold in any_gold(),
            results in any_hits(),
            answer in prop::option::of("[ -~İßς]{0,6}"),
        ) {
            for definition in definitions() {
                let mut made = 0;
                for variant in [None, Some("heta")] {
                    for cutoff in [None, Some(1), Some(3)] {
                        let options = variant.map(|variant| ("variant".to_string(), variant.into()));
                        let options = options.into_iter().collect();
                        let spec = EvaluatorSpec { name: definition.name.to_string(), cutoff, options };
                        let Ok(evaluator) = evaluator(&spec) else { continue };
                        made += 1;
                        let response = ResponseView::new(&results, answer.as_deref(), &[]);
                        let case = CaseView { case_id: "q", query: "", gold: &gold };
                        let Ok(score) = evaluator.evaluate(&case, &response) else { continue };
                        if let Some(value) = score.value.as_ref().and_then(ScoreValue::number) {
                            let counts = definition.name.starts_with("Num") || definition.name == "answer_length";
                            let most = if counts { f64::MAX } else { 1.0 };
                            prop_assert!((0.0..=most).contains(&value), "{} is {value}", evaluator.name());
                        }
                    }
                }
                prop_assert!(made > 0, "{} was not looked at", definition.name);
            }
        }

        #[test]
        fn documents_of_one_grade_may_change_places(
            grades in prop::collection::vec(-1i64..3, 1..8),
            swap in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let names: Vec<String> = (0..grades.len()).map(|i| format!("d{i}")).collect();
            let judgements = names.iter().cloned().zip(grades.iter().map(|grade| json!(grade))).collect();
            let gold = gold(Value::Object(judgements));
            let (i, j) = (swap.0.index(grades.len()), swap.1.index(grades.len()));
            prop_assume!(grades[i] == grades[j]);
            let mut ranking: Vec<&str> = names.iter().map(String::as_str).collect();
            let before = hits(&ranking);
            ranking.swap(i, j);
            let after = hits(&ranking);
            for text in ["nDCG", "nDCG(gain=exp)@3", "AP", "AP(rel=2)@2", "P@2", "R@2", "RR", "Success@1", "bpref", "RBP", "ERR@3", "infAP"] {
                let value = |results: &[Hit]| score(text, &gold, results).map(|score| score.value);
                prop_assert_eq!(value(&before), value(&after), "{}", text);
            }
        }
    }
}
