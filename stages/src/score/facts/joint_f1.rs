//! `joint_f1`: the agreement of the answer's words and of its facts as one number.

use super::joint_evaluator::JointEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static JOINT_F1: Definition = Definition {
    name: "joint_f1",
    pretty: "Joint F1",
    description: "harmonic mean of joint precision and joint recall: of the products of those of answer and facts",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["hotpot_joint_f1"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(JointEvaluator::boxed(identity, |joint| ScoreValue::Number(joint.f1()))),
};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::artifact::{Gold, Hit, Score};
    use crate::score::{CaseView, EvaluatorSpec, ResponseView, evaluator};

    fn score(text: &str, answers: &[&str], answer: Option<&str>, hits: Value) -> Score {
        let evaluator = evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator");
        let evidence = json!([
            {"reference_id": "a", "text": "One."}, {"reference_id": "a", "text": "Two."}, {"reference_id": "b", "text": "Three."},
        ]);
        let gold = Gold {
            answers: answers.iter().map(|answer| answer.to_string()).collect(),
            evidence: serde_json::from_value(evidence).expect("evidence"),
            ..Gold::default()
        };
        let hits: Vec<Hit> = serde_json::from_value(hits).expect("hits");
        let response = ResponseView::new(&hits, answer, &[]);
        evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).expect("a score")
    }

    /// Exact match, precision, recall and F1.
    fn all(answers: &[&str], answer: Option<&str>, hits: Value) -> [f64; 4] {
        ["em", "precision", "recall", "f1"].map(|part| {
            let score = score(&format!("joint_{part}"), answers, answer, hits.clone());
            score.value.and_then(|value| value.number()).expect("a number")
        })
    }

    fn hits(texts: [&str; 2]) -> Value {
        json!([
            {"id": "1", "text": texts[0], "source": {"document_id": "a"}},
            {"id": "2", "text": texts[1], "source": {"document_id": "b"}},
        ])
    }

    #[test]
    fn precision_and_recall_are_products() {
        // Answer: P 2/4, R 2/3. Facts: predicted {One, Two, Four, Three}, P 3/4, R 1. Joint: P 3/8, R 2/3, F1 12/25.
        let found = hits(["One.\nTwo.\nFour.", "Three."]);
        let [em, precision, recall, f1] = all(&["red brown fox"], Some("red fox ran home"), found.clone());
        assert_eq!((em, precision, recall), (0.0, 0.375, 2.0 / 3.0));
        assert!((f1 - 0.48).abs() < 1e-12);
        // The answer alone is right.
        let [em, precision, recall, _] = all(&["red fox"], Some("The red fox!"), found);
        assert_eq!((em, precision, recall), (0.0, 0.75, 1.0));
        assert_eq!(all(&["red fox"], Some("The red fox!"), hits(["One.\nTwo.", "Three."])), [1.0; 4]);
        // The facts alone are right.
        assert_eq!(all(&["red fox"], Some("blue"), hits(["One.\nTwo.", "Three."])), [0.0; 4]);
        assert_eq!(all(&["red fox"], None, hits(["One.\nTwo.", "Three."])), [0.0; 4]);
        assert_eq!(all(&["red fox"], Some("red fox"), hits(["Four.", "Five."])), [0.0; 4]);
    }

    #[test]
    fn yes_and_no_agree_with_themselves_alone() {
        let found = hits(["One.\nTwo.", "Three."]);
        assert_eq!(all(&["yes"], Some("yes, it is"), found.clone()), [0.0; 4]);
        assert_eq!(all(&["yes"], Some("Yes"), found), [1.0; 4]);
    }

    #[test]
    fn the_best_gold_answer_counts() {
        assert_eq!(all(&["blue", "red fox"], Some("red fox"), hits(["One.\nTwo.", "Three."])), [1.0; 4]);
        let detail = score("joint_f1", &["blue", "red fox"], Some("red"), hits(["One.", "Three."])).detail;
        let expected = json!({
            "best_answer": "red fox", "answer_precision": 1.0, "answer_recall": 0.5, "fact_precision": 1.0,
            "fact_recall": 2.0 / 3.0, "found": [0, 2], "missing": [1], "wrong": 0, "from": "results",
        });
        assert_eq!(json!(detail), expected);
    }

    #[test]
    fn without_gold_answers_a_case_is_skipped() {
        let skipped = score("joint_f1", &[], Some("red"), hits(["One.", "Three."]));
        assert_eq!(skipped.reason.as_deref(), Some("the case has no gold answers"));
        let reads = evaluator(&EvaluatorSpec::parse("joint_f1").expect("a spec")).expect("an evaluator").reads();
        assert!(reads.answer && !reads.answer_is_optional && reads.results);
    }
}
