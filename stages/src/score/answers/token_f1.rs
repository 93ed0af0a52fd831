//! `token_f1`: the overlap of words between answer and gold, as SQuAD's own script computes it.

use super::token_overlap::{NORMAL, build};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static TOKEN_F1: Definition = Definition {
    name: "token_f1",
    pretty: "Token F1",
    description: "harmonic mean of precision and recall of the answer's words, against the best gold answer",
    citation: Some(
        "Rajpurkar, Zhang, Lopyrev and Liang. SQuAD: 100,000+ Questions for Machine Comprehension of Text. EMNLP 2016.",
    ),
    higher_is_better: true,
    other_names: &["f1", "squad_f1", "answer_f1"],
    cutoff: CutoffRule::None,
    parameters: &[NORMAL],
    code_version: 1,
    build: |identity| Ok(build(identity, |overlap| overlap.f1)),
};

#[cfg(test)]
mod tests {
    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::{score, score_of};

    fn f1(gold: &[&str], answer: Option<&str>) -> f64 {
        let gold = Gold { answers: gold.iter().map(|text| text.to_string()).collect(), ..Gold::default() };
        score_of("token_f1", &gold, answer).value.and_then(|value| value.number()).expect("a number")
    }

    #[test]
    fn by_hand() {
        assert_eq!(f1(&["Lisbon"], Some("the LISBON.")), 1.0);
        // Two of four words are the gold's two of three: P 1/2, R 2/3, F1 4/7.
        assert!((f1(&["red brown fox"], Some("red fox ran home")) - 4.0 / 7.0).abs() < 1e-12);
        // A repeated word counts as often as the other side has it.
        assert!((f1(&["tide tide"], Some("tide tide tide")) - 0.8).abs() < 1e-12);
        assert_eq!(f1(&["Porto", "Lisbon"], Some("lisbon")), 1.0);
        assert_eq!(f1(&["Porto"], Some("Lisbon")), 0.0);
        assert_eq!(f1(&["Porto"], None), 0.0);
        assert_eq!(f1(&["the"], Some("")), 1.0);
        assert_eq!(f1(&["the"], Some("Porto")), 0.0);
    }

    #[test]
    fn no_gold_is_skipped() {
        assert_eq!(score("token_f1", &[], "Lisbon").state, ScoreState::Skipped);
    }

    #[test]
    fn precision_and_recall_are_the_best_of_each() {
        let value = |text: &str, gold: &[&str], answer: &str| {
            score(text, gold, answer).value.and_then(|value| value.number()).expect("a number")
        };
        // Against the first: P 2/4, R 2/3. Against the second: P 1/4, R 1.
        let (gold, answer) = (["red brown fox", "home"], "the red fox ran home");
        assert_eq!(value("token_precision", &gold, answer), 0.5);
        assert_eq!(value("token_recall", &gold, answer), 1.0);
        assert!((value("token_f1", &gold, answer) - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(value("token_recall", &["x"], ""), 0.0);
    }

    #[test]
    fn normal_forms_differ_in_and_and_in_nothing() {
        let both = |gold: &str, answer: &str| {
            let value = |text: &str| score(text, &[gold], answer).value.and_then(|value| value.number());
            (value("token_f1"), value("openviking_f1"))
        };
        assert_eq!(both("salt and pepper", "salt & pepper"), (Some(0.8), Some(1.0)));
        assert_eq!(both("the", ""), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn yes_and_no_agree_with_themselves_alone_in_hotpotqa() {
        let f1 = |gold: &[&str], answer: &str| {
            let score = score_of("token_f1(normal=hotpotqa)", gold, Some(answer));
            score.value.and_then(|value| value.number()).expect("a number")
        };
        assert_eq!(f1(&["yes"], "Yes."), 1.0);
        // One word of three is the gold's only one, and still the answer is another.
        assert_eq!(f1(&["yes"], "yes it is"), 0.0);
        assert_eq!(f1(&["no way home"], "no"), 0.0);
        assert_eq!(f1(&["noanswer here"], "noanswer"), 0.0);
        assert_eq!(f1(&["the"], ""), 0.0);
        assert!((f1(&["red brown fox"], "red fox ran home") - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(score(&["yes"], Some("yes it is")).value.and_then(|value| value.number()), Some(0.5));
    }
}
