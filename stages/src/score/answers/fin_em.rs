//! `fin_em`: the answer is the gold number or word, as UDA-Benchmark's authors score FinQA's questions by their `fin_eval.py`.
//!
//! The text after the last `The answer is:`, without quotes, points and commas at its end, against each gold answer. Where gold is
//! a number, so is the answer: its first one where it begins with one, else the last that it has. Scale words count for nothing, a
//! percent sign divides by 100, digits alone in parentheses are negative. Two numbers agree when they are less than 1 % of their
//! mean apart. Where gold is a word, such as yes, the two must be the same in lower case, without punctuation, a, an and the.
//!
//! `numeric_match(variant=uda_fin)` is stricter: there the answer must be a number and nothing else. In the script any two
//! negative numbers agree, since it divides by a negative mean; here they do not.

use super::answer_evaluator::AnswerEvaluator;
use super::tat_number::{is_number, unscaled};
use super::tat_span::words;
use super::uda_tail::tail;
use crate::artifact::{Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static FIN_EM: Definition = Definition {
    name: "fin_em",
    pretty: "Exact Match of FinQA",
    description: "whether the first or last number of the answer is the gold number, within 1 %, as UDA-Benchmark's authors compare \
                  them; a gold word must be the answer",
    citation: Some(
        "Hui, Lu and Zhang. UDA: A Benchmark Suite for Retrieval Augmented Generation in Real-world Document Analysis. NeurIPS 2024.",
    ),
    higher_is_better: true,
    other_names: &["finqa_em", "uda_fin_em", "uda_fin"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| {
        Ok(AnswerEvaluator::boxed(identity, |case, response| {
            let answers = &case.gold.answers;
            if answers.is_empty() {
                return Ok(Score::skipped("the case has no gold answers"));
            }
            let answer = tail(response.answer.unwrap_or_default()).trim_end_matches(['"', '\'', '.', '\n', ',']);
            let matched: Vec<&str> = answers.iter().map(String::as_str).filter(|gold| agrees(answer, gold)).collect();
            let passed = !matched.is_empty();
            let detail = Json::from_iter([("matched_answers".to_string(), matched.into())]);
            Ok(Score::scored(ScoreValue::Bool(passed), Some(passed), detail))
        }))
    },
};

fn agrees(answer: &str, gold: &str) -> bool {
    if answer.is_empty() {
        return false;
    }
    let number = |text: &str| unscaled(text).filter(|_| is_number(text));
    match number(gold) {
        Some(gold) => number(answer)
            .or_else(|| last_number(&words(answer).join(" ")))
            .is_some_and(|answer| (answer - gold).abs() / ((answer + gold) / 2.0 + 1e-9).abs() < 0.01),
        None => words(answer) == words(gold),
    }
}

/// The last number of a text in normal form: digits, with a sign and with digits and a point before them where there are some.
fn last_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut last = None;
    let mut at = 0;
    while at < bytes.len() {
        let signed = at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let whole = signed + digits(signed);
        let decimals = if bytes.get(whole) == Some(&b'.') { digits(whole + 1) } else { 0 };
        let end = if decimals > 0 { whole + 1 + decimals } else { whole };
        if end > signed {
            last = text.get(at..end).and_then(|number| number.parse().ok()).or(last);
            at = end;
        } else {
            at += 1;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::{score, score_of};

    fn passed(gold: &[&str], answer: &str) -> bool {
        score("fin_em", gold, answer).passed.expect("a decision")
    }

    #[test]
    fn the_first_number_of_an_answer_that_begins_with_one_and_else_the_last() {
        for (gold, answer) in [
            ("1234", "So it was 5. The answer is: $1,234."),
            ("0.125", "12.5%"),
            ("12.5", "12.5 million dollars in 2019"),
            ("0.125", "In 2019 it is 12.5%"),
            ("-3.1", "(3.1)"),
            ("-364", "approximately -364.0"),
            ("100", "100.9"),
            ("0", "none, that is 0"),
            ("yes", "The answer is: Yes."),
        ] {
            assert!(passed(&[gold], answer), "{gold}: {answer}");
        }
        for (gold, answer) in [
            ("100", "101.1"),
            ("0.125", "12.5"),
            ("2019", "12.5 in 2019"),
            ("12.5", "It is 12.5 in 2019"),
            ("-100", "-5"),
            ("5", "-5"),
            ("yes", "Yes, it is"),
            ("5", "five"),
            ("5", " . "),
            ("5", ""),
        ] {
            assert!(!passed(&[gold], answer), "{gold}: {answer}");
        }
        assert!(passed(&["57%", "0.57484"], "0.574"), "either of the gold pair");
    }

    #[test]
    fn numbers_within_words_are_numbers() {
        for (text, number) in [
            ("a 1.2.3", Some(0.3)),
            ("page49", Some(49.0)),
            ("-5", Some(-5.0)),
            ("x - .5", Some(0.5)),
            ("5.", Some(5.0)),
            ("", None),
            ("+-", None),
        ] {
            assert_eq!(super::last_number(text), number, "{text}");
        }
    }

    #[test]
    fn no_gold_is_skipped_and_no_answer_is_wrong() {
        assert_eq!(score_of("fin_em", &Gold::default(), Some("x")).state, ScoreState::Skipped);
        let gold = Gold { answers: vec!["5".to_string()], ..Gold::default() };
        assert_eq!(score_of("fin_em", &gold, None).passed, Some(false));
    }
}
