//! `answer_contains`: a gold answer is a substring of the answer (spec/heta 5.3). There are no word boundaries: `no` is in
//! `unknown`, and `380` in `1380`; `words=whole` has them.

use super::answer_evaluator::AnswerEvaluator;
use super::answer_match::match_answers;
use crate::python::is_alphanumeric;
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};

pub(crate) static ANSWER_CONTAINS: Definition = Definition {
    name: "answer_contains",
    pretty: "Answer Contains",
    description: "whether the answer contains a gold answer, letter case and runs of whitespace aside",
    citation: None,
    higher_is_better: true,
    other_names: &["contains", "substring_match"],
    cutoff: CutoffRule::None,
    parameters: &[Parameter {
        name: "words",
        description: "whole: the gold answer must not start or end inside a word or a number",
        kind: ParameterKind::Choice(&["part", "whole"]),
    }],
    code_version: 1,
    build: |identity| {
        let rule = if identity.is("words", "whole") { contains_words } else { contains };
        Ok(AnswerEvaluator::boxed(identity, move |case, response| match_answers(case, response, rule)))
    },
};

fn contains(answer: &str, gold: &str) -> bool {
    answer.contains(gold)
}

/// Whether `gold` is in `answer` such that no letter or digit of the one touches one of the other.
fn contains_words(answer: &str, gold: &str) -> bool {
    let joined = |a: Option<char>, b: Option<char>| a.is_some_and(is_alphanumeric) && b.is_some_and(is_alphanumeric);
    // Not `match_indices`: places may overlap.
    let starts = answer.char_indices().filter_map(|(start, _)| {
        let (before, here) = answer.split_at(start);
        Some((before, here.strip_prefix(gold)?))
    });
    starts.into_iter().any(|(before, after)| {
        !joined(before.chars().next_back(), gold.chars().next())
            && !joined(gold.chars().next_back(), after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Gold, ScoreState, ScoreValue};
    use crate::score::{CaseView, EvaluatorSpec, ResponseView, evaluator};

    fn passed(name: &str, gold: &[&str], answer: Option<&str>) -> Option<bool> {
        let spec = EvaluatorSpec::parse(name).unwrap_or_else(|error| panic!("{error}"));
        let evaluator = evaluator(&spec).unwrap_or_else(|error| panic!("{error}"));
        let gold = Gold { answers: gold.iter().map(|text| text.to_string()).collect(), ..Gold::default() };
        let response = ResponseView::new(&[], answer, &[]);
        let score = evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).ok()?;
        assert_eq!(score.value, score.passed.map(ScoreValue::Bool));
        assert_eq!(score.state == ScoreState::Skipped, score.passed.is_none());
        score.passed
    }

    #[test]
    fn containing_and_being() {
        let both = |gold: &[&str], answer| {
            (passed("answer_contains", gold, answer), passed("answer_exact_match", gold, answer))
        };
        assert_eq!(both(&["Lisbon"], Some(" LISBON\n")), (Some(true), Some(true)));
        assert_eq!(both(&["Porto", "New  York"], Some("It is new york.")), (Some(true), Some(false)));
        assert_eq!(both(&["no"], Some("unknown")), (Some(true), Some(false)));
        assert_eq!(both(&["Groß"], Some("GROSS")), (Some(true), Some(true)));
        assert_eq!(both(&["Lisbon"], None), (Some(false), Some(false)));
        assert_eq!(both(&["Lisbon"], Some("")), (Some(false), Some(false)));
    }

    #[test]
    fn whole_words() {
        let whole = |gold: &str, answer: &str| passed("answer_contains(words=whole)", &[gold], Some(answer));
        for (gold, answer) in
            [("no", "So, no."), ("380", "an A-380"), ("$5", "US$5"), ("new york", "New\nYork's"), ("五", "(五)")]
        {
            assert_eq!(whole(gold, answer), Some(true), "{gold} in {answer}");
        }
        for (gold, answer) in [("no", "unknown"), ("380", "1380"), ("5%", "15%"), ("ana", "banana"), ("no", "nor")] {
            assert_eq!(whole(gold, answer), Some(false), "{gold} in {answer}");
        }
        // The first place is none, the one that overlaps it is.
        assert_eq!(whole("-a-", "x-a-a-"), Some(true));
        assert_eq!(whole("a a", "ba a a"), Some(true));
    }

    #[test]
    fn no_gold_is_skipped_and_blank_gold_is_an_error() {
        assert_eq!(passed("answer_contains", &[], Some("Lisbon")), None);
        let gold = Gold { answers: vec!["ok".into(), " ".into()], ..Gold::default() };
        let response = ResponseView::new(&[], Some("ok"), &[]);
        let error = match_answers(&CaseView { case_id: "q", query: "", gold: &gold }, &response, |_, _| true);
        assert_eq!(error.expect_err("blank gold").message, "gold answer 1 is blank");
    }
}
