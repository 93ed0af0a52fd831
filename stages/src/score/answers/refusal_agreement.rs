//! `refusal_agreement`: the answer refuses exactly where there is nothing to answer.
//!
//! # What is expected
//!
//! A refusal, where the gold metadata says so (`unanswerable` or `is_impossible` is true, `answerable` or `has_answer` is
//! false) or where every gold answer is itself a refusal (`Not mentioned`, `Insufficient information.`); an answer, where it
//! says the contrary or any gold answer is none. A case with neither is skipped.
//!
//! # What is a refusal
//!
//! An answer with one of `phrases` in it as whole words, letter case, whitespace and the kind of apostrophe aside; one that
//! is nothing but `none`, `unknown`, `n/a` or the like; and none at all. `detect=openviking` goes by the six phrases of
//! OpenViking's benchmark (spec/openviking 6.2), which it finds in `nonetheless` too.

use serde_json::Value;

use super::answer_evaluator::AnswerEvaluator;
use super::refusal::{PHRASES, Refusals};
use crate::artifact::{Gold, Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, ResponseView};

pub(crate) static REFUSAL_AGREEMENT: Definition = Definition {
    name: "refusal_agreement",
    pretty: "Refusal Agreement",
    description: "whether the answer refuses where the case has no answer, and nowhere else",
    citation: None,
    higher_is_better: true,
    other_names: &["refusal", "refusal_accuracy", "abstention", "unanswerable"],
    cutoff: CutoffRule::None,
    parameters: &[
        Parameter {
            name: "detect",
            description: "phrases: whole words of `phrases`; openviking: the six phrases of OpenViking, in words too",
            kind: ParameterKind::Choice(&["phrases", "openviking"]),
        },
        Parameter {
            name: "phrases",
            description: "what an answer that refuses says",
            kind: ParameterKind::Texts(&PHRASES),
        },
    ],
    code_version: 1,
    build: |identity| {
        let refusals = if identity.is("detect", "openviking") {
            if identity.changed("detect").contains(&"phrases") {
                return Err("detect=openviking of refusal_agreement fixes phrases".to_string());
            }
            Refusals::OpenViking
        } else {
            Refusals::of(identity.texts("phrases"))
        };
        Ok(AnswerEvaluator::boxed(identity, move |case, response| Ok(evaluate(case, response, &refusals))))
    },
};

fn evaluate(case: &CaseView, response: &ResponseView, refusals: &Refusals) -> Score {
    let Some(expected) = expected(case.gold, refusals) else {
        return Score::skipped("the case has no gold answers");
    };
    let refused = response.answer.is_none_or(|answer| refusals.refuses(answer));
    let passed = refused == expected;
    let detail = Json::from_iter([("refused".to_string(), refused.into()), ("expected".to_string(), expected.into())]);
    Score::scored(ScoreValue::Bool(passed), Some(passed), detail)
}

fn expected(gold: &Gold, refusals: &Refusals) -> Option<bool> {
    let says = |name: &str| gold.metadata.get(name).and_then(Value::as_bool);
    let marked = says("unanswerable")
        .or_else(|| says("is_impossible"))
        .or_else(|| says("answerable").map(|answerable| !answerable))
        .or_else(|| says("has_answer").map(|answerable| !answerable));
    marked.or_else(|| (!gold.answers.is_empty()).then(|| gold.answers.iter().all(|answer| refusals.refuses(answer))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::score::test_case::{score, score_of};

    #[test]
    fn refusing_where_there_is_no_answer_and_nowhere_else() {
        let passed = |gold: &[&str], answer: &str| score("refusal_agreement", gold, answer).passed;
        assert_eq!(passed(&["Not mentioned"], "The text does not mention it."), Some(true));
        assert_eq!(passed(&["Not mentioned"], "In 1871."), Some(false));
        assert_eq!(passed(&["1871"], "In 1870."), Some(true));
        assert_eq!(passed(&["1871"], "I don't know."), Some(false));
        // One of several annotators found an answer.
        assert_eq!(passed(&["Not mentioned", "1871"], "I don't know."), Some(false));
        assert_eq!(passed(&[], "I don't know."), None);
        assert_eq!(score("refusal_agreement(detect=openviking)", &["1871"], "Nonetheless, 1871").passed, Some(false));
        assert_eq!(score("refusal_agreement(phrases=[\"no idea\"])", &["No idea"], "No idea!").passed, Some(true));
    }

    #[test]
    fn metadata_says_what_is_expected() {
        for (metadata, expected) in [
            (json!({"unanswerable": true}), Some(true)),
            (json!({"is_impossible": false}), Some(false)),
            (json!({"answerable": false}), Some(true)),
            (json!({"has_answer": true}), Some(false)),
            (json!({"unanswerable": "yes"}), None),
        ] {
            let gold = Gold { metadata: serde_json::from_value(metadata.clone()).expect("fields"), ..Gold::default() };
            assert_eq!(score_of("refusal_agreement", &gold, None).passed, expected, "{metadata}");
        }
    }
}
