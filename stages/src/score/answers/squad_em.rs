//! `squad_em`: the answer is a gold answer, punctuation and articles aside, as SQuAD's and HotpotQA's own scripts have it.

use super::answer_evaluator::AnswerEvaluator;
use super::answer_match::match_any;
use crate::artifact::Score;
use crate::score::definition::{CutoffRule, Definition};
use crate::score::evaluator::{CaseView, ResponseView};
use crate::score::squad_text::normalize;

pub(crate) static SQUAD_EM: Definition = Definition {
    name: "squad_em",
    pretty: "SQuAD Exact Match",
    description: "whether the answer is a gold answer, letter case, punctuation, articles and whitespace aside",
    citation: Some(
        "Rajpurkar, Zhang, Lopyrev and Liang. SQuAD: 100,000+ Questions for Machine Comprehension of Text. EMNLP 2016.",
    ),
    higher_is_better: true,
    other_names: &["hotpot_em", "squad_exact_match", "normalized_exact_match"],
    cutoff: CutoffRule::None,
    parameters: &[],
    code_version: 1,
    build: |identity| Ok(AnswerEvaluator::boxed(identity, |case, response| Ok(evaluate(case, response)))),
};

fn evaluate(case: &CaseView, response: &ResponseView) -> Score {
    let answer = normalize(response.answer.unwrap_or_default());
    match_any(case, |gold| normalize(gold) == answer)
}

#[cfg(test)]
mod tests {
    use crate::score::test_case::score;

    #[test]
    fn punctuation_and_articles_do_not_count() {
        let passed = |gold: &[&str], answer: &str| score("squad_em", gold, answer).passed;
        assert_eq!(passed(&["Lisbon"], "The LISBON!"), Some(true));
        assert_eq!(passed(&["Porto", "U.S."], "an us"), Some(true));
        assert_eq!(passed(&["Lisbon"], "in Lisbon"), Some(false));
        // SQuAD 2: an answer of nothing to a question that has none.
        assert_eq!(passed(&[""], "the"), Some(true));
        assert_eq!(passed(&["Lisbon"], ""), Some(false));
        assert_eq!(passed(&[], "Lisbon"), None);
    }
}
