//! `answer_accuracy`: the answer says a gold answer, for gold answers of a few words.
//!
//! A gold answer is said when its words, in the order that they have and next to each other, are words of the answer, letter case,
//! punctuation and articles aside. A gold `yes` or `no` is said when the answer names that word and not the other, as
//! [`LABEL_ACCURACY`](super::LABEL_ACCURACY) finds it: in `There is no doubt: yes` both are.
//!
//! `variant=multihop_rag` is the rule of MultiHop-RAG's own script (`qa_evaluate.py`), from which the tables of its paper are:
//! one word of the gold answer, cut at white space and in lower case, is a word of the answer. It looks only at what stands
//! between the quotes of `The answer to the question is "..."`, where the answer says so. It takes `the wind` for `The Verge`,
//! so it is for comparing with that paper only.

use super::answer_evaluator::AnswerEvaluator;
use super::label_reader::LabelReader;
use crate::artifact::{Json, Score, ScoreValue};
use crate::python::is_whitespace;
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, ResponseView};
use crate::score::plain_text::words;
use crate::score::squad_text::normalize;

pub(crate) static ANSWER_ACCURACY: Definition = Definition {
    name: "answer_accuracy",
    pretty: "Answer Accuracy",
    description: "whether the answer says a gold answer: its words in a row, or the one of yes and no that it is",
    citation: Some(
        "Tang and Yang. MultiHop-RAG: Benchmarking Retrieval-Augmented Generation for Multi-Hop Queries. COLM 2024.",
    ),
    higher_is_better: true,
    other_names: &["qa_accuracy", "response_accuracy"],
    cutoff: CutoffRule::None,
    parameters: &[Parameter {
        name: "variant",
        description: "multihop_rag: one word in common is enough, as MultiHop-RAG's own script has it",
        kind: ParameterKind::Choice(&["standard", "multihop_rag"]),
    }],
    code_version: 1,
    build: |identity| {
        if identity.is("variant", "multihop_rag") {
            return Ok(AnswerEvaluator::boxed(identity, |case, response| Ok(evaluate(case, response, shares_a_word))));
        }
        let polar = LabelReader::new(["yes", "no"], false);
        Ok(AnswerEvaluator::boxed(identity, move |case, response| {
            Ok(evaluate(case, response, |answer, gold| says(&polar, answer, gold)))
        }))
    },
};

fn evaluate(case: &CaseView, response: &ResponseView, says: impl Fn(&str, &str) -> bool) -> Score {
    let answers = &case.gold.answers;
    if answers.is_empty() {
        return Score::skipped("the case has no gold answers");
    }
    let answer = response.answer.unwrap_or_default();
    let matched: Vec<&str> = answers.iter().map(String::as_str).filter(|gold| says(answer, gold)).collect();
    let passed = !matched.is_empty();
    let detail = Json::from_iter([("matched_answers".to_string(), matched.into())]);
    Score::scored(ScoreValue::Bool(passed), Some(passed), detail)
}

fn says(polar: &LabelReader, answer: &str, gold: &str) -> bool {
    let gold = normalize(gold);
    if ["yes", "no"].contains(&gold.as_str()) {
        return polar.named(answer) == [gold];
    }
    let (answer, gold) = (normalize(answer), words(&gold));
    !gold.is_empty() && words(&answer).windows(gold.len()).any(|window| window == gold)
}

fn shares_a_word(answer: &str, gold: &str) -> bool {
    let (answer, gold) = (quoted(answer).to_lowercase(), gold.to_lowercase());
    let words =
        |text: &str| text.split(is_whitespace).filter(|word| !word.is_empty()).map(str::to_string).collect::<Vec<_>>();
    let gold = words(&gold);
    words(&answer).iter().any(|word| gold.contains(word))
}

/// What the answer puts in quotes; all of it where it does not.
fn quoted(answer: &str) -> &str {
    let after = answer.split_once("The answer to the question is \"").map(|(_, after)| after);
    // In the script the quotes are on one line.
    let within = after.and_then(|after| after.split_once('"')).map(|(within, _)| within);
    within.filter(|within| !within.contains('\n')).unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::{score, score_of};

    fn passed(options: &str, gold: &str, answer: &str) -> bool {
        score(&format!("answer_accuracy{options}"), &[gold], answer).passed.expect("a decision")
    }

    #[test]
    fn words_in_a_row() {
        for (gold, answer) in [
            ("Insufficient information.", "There is insufficient information"),
            ("The Verge", "It was in THE Verge, I think."),
            ("Sam Bankman-Fried", "sam bankmanfried"),
            ("OpenAI", "OpenAI's chief left OpenAI"),
        ] {
            assert!(passed("", gold, answer), "{gold}: {answer}");
        }
        for (gold, answer) in [
            ("The Verge", "the wind"),
            ("Sam Altman", "Altman, Sam"),
            ("Apple", "pineapples"),
            ("the", "the"),
            ("Google", ""),
        ] {
            assert!(!passed("", gold, answer), "{gold}: {answer}");
        }
    }

    #[test]
    fn a_yes_is_no_no() {
        assert!(passed("", "Yes", "Yes, both articles say so.") && passed("", "no", "The answer is no."));
        assert!(!passed("", "no", "It is not known") && !passed("", "Yes", "no"));
        assert!(!passed("", "no", "There is no doubt: yes."), "both are named");
    }

    #[test]
    fn the_script_wants_one_word() {
        let paper = |gold, answer| passed("(variant=multihop_rag)", gold, answer);
        assert!(paper("The Verge", "the wind") && paper("Insufficient information.", "insufficient"));
        assert!(!paper("Yes", "Yes, it is"), "the comma belongs to the word");
        assert!(paper("Google", "I say The answer to the question is \"Google\" or Apple"));
        assert!(!paper("Apple", "I say The answer to the question is \"Google\" or Apple"));
        assert!(paper("Apple", "The answer to the question is \"Goo\ngle\" or Apple"));
        assert!(!paper("Google", ""));
    }

    #[test]
    fn no_gold_is_skipped() {
        assert_eq!(score_of("answer_accuracy", &Gold::default(), Some("x")).state, ScoreState::Skipped);
    }
}
