//! `uda_f1`: the overlap of words as UDA-Benchmark's authors score questions on papers and Wikipedia pages (spec/heta 12), by
//! their `paper_eval.py`, `nq_eval.py` and `feta_eval.py`.
//!
//! The text after the last `The answer is:` against the gold answer for which it is best. It differs from `token_f1` in that
//! tail, in that texts without words never agree, and in this: where a gold answer is a yes or a no, an answer that begins with
//! `yes` or `no` counts as that word alone. The script takes that from the answer's type, which only its extended files have, and
//! keeps the word for the gold answers after it; here each gold answer is compared by itself.

use super::answer_evaluator::AnswerEvaluator;
use super::token_overlap::Overlap;
use super::uda_tail::tail;
use crate::artifact::{Json, Score, ScoreValue};
use crate::python::strip;
use crate::score::definition::{CutoffRule, Definition};
use crate::score::evaluator::{CaseView, ResponseView};
use crate::score::plain_text::words;
use crate::score::squad_text::normalize;

pub(crate) static UDA_F1: Definition = Definition {
    name: "uda_f1",
    pretty: "Token F1 of UDA-Benchmark",
    description: "harmonic mean of precision and recall of the words after \"The answer is:\", against the best gold answer; a \
                  yes or no is the answer's first word",
    citation: Some(
        "Hui, Lu and Zhang. UDA: A Benchmark Suite for Retrieval Augmented Generation in Real-world Document Analysis. NeurIPS 2024.",
    ),
    higher_is_better: true,
    other_names: &["uda_token_f1", "uda_answer_f1"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| Ok(AnswerEvaluator::boxed(identity, |case, response| Ok(evaluate(case, response)))),
};

fn evaluate(case: &CaseView, response: &ResponseView) -> Score {
    let answer = tail(response.answer.unwrap_or_default());
    let normal_answer = normalize(answer);
    let said = words(&normal_answer);
    let lower = strip(answer).to_lowercase();
    let polar = ["yes", "no"].into_iter().find(|word| lower.starts_with(word));
    let mut best: Option<(f64, &str)> = None;
    for gold in &case.gold.answers {
        let normal = normalize(gold);
        let f1 = match polar {
            Some(word) if ["yes", "no"].contains(&normal.as_str()) => f64::from(u8::from(word == normal)),
            _ => Overlap::of(&said, &words(&normal), 0.0).f1,
        };
        // Of equally good gold answers the first.
        if best.is_none_or(|(known, _)| f1 > known) {
            best = Some((f1, gold));
        }
    }
    match best {
        Some((f1, gold)) => {
            let detail = Json::from_iter([("best_answer".to_string(), gold.into())]);
            Score::scored(ScoreValue::Number(f1), None, detail)
        }
        None => Score::skipped("the case has no gold answers"),
    }
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::{score, score_of};

    fn f1(gold: &[&str], answer: &str) -> f64 {
        score("uda_f1", gold, answer).value.and_then(|value| value.number()).expect("a number")
    }

    #[test]
    fn the_tail_counts_against_the_best_gold_answer() {
        assert_eq!(f1(&["Lisbon"], "Porto? No. The answer is: the LISBON."), 1.0);
        // Of 5 words of the answer 2 are the gold's 2: P 2/5, R 1, F1 4/7.
        assert!((f1(&["Porto", "red fox"], "red fox ran home again") - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(f1(&["the"], ""), 0.0, "nothing does not agree with nothing");
        assert_eq!(f1(&["Porto"], "Lisbon"), 0.0);
    }

    #[test]
    fn a_yes_or_no_is_the_first_word_where_gold_is_one() {
        assert_eq!(f1(&["Yes"], "Yes, they release it on their site"), 1.0);
        assert_eq!(f1(&["No."], "The answer is: No, they do not"), 1.0);
        assert_eq!(f1(&["No"], "yes, no doubt"), 0.0);
        // As in the script, `Nothing` begins with `no`.
        assert_eq!(f1(&["no"], "Nothing is said"), 1.0);
        // A gold answer of more words is compared as it is: P 2/3, R 2/4.
        assert!(
            (f1(&["yes on their site"], "yes their code") - 2.0 * (2.0 / 3.0) * 0.5 / (2.0 / 3.0 + 0.5)).abs() < 1e-12
        );
        assert_eq!(f1(&["yes"], "It does, yes"), 2.0 * (1.0 / 3.0) / (1.0 / 3.0 + 1.0));
    }

    #[test]
    fn no_gold_is_skipped_and_no_answer_is_zero() {
        assert_eq!(score_of("uda_f1", &Gold::default(), Some("x")).state, ScoreState::Skipped);
        let gold = Gold { answers: vec!["x".to_string()], ..Gold::default() };
        assert_eq!(score_of("uda_f1", &gold, None).value.and_then(|value| value.number()), Some(0.0));
    }
}
