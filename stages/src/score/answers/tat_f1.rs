//! `tat_f1`: the words that the answer and the gold spans have in common, as UDA-Benchmark's authors score questions on financial
//! reports (spec/heta 12), by their `tat_eval.py`, which is TAT-QA's and in its turn DROP's.
//!
//! What is compared is said in `tat_em.rs`. Of two spans it is the F1 of their *different* words (numbers are words); with
//! `spans=aligned` gold spans and the answer's parts go together one to one such that the sum is largest, and a span without a
//! partner counts 0. The value of a case has two decimals, as there.

use super::answer_evaluator::AnswerEvaluator;
use super::assignment::best_sum;
use super::bag::common;
use super::tat_number::rounded;
use super::tat_span::{SPANS, Span, Spans};
use crate::artifact::{Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static TAT_F1: Definition = Definition {
    name: "tat_f1",
    pretty: "F1 of TAT-QA",
    description: "harmonic mean of precision and recall of the different words and scaled numbers of answer and gold spans, as \
                  UDA-Benchmark's authors compute it",
    citation: Some(
        "Dua, Wang, Dasigi, Stanovsky, Singh and Gardner. DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs. NAACL 2019.",
    ),
    higher_is_better: true,
    other_names: &["tatqa_f1", "uda_tat_f1", "drop_f1"],
    cutoff: CutoffRule::None,
    parameters: &[SPANS],
    code_version: 1,
    build: |identity| {
        let aligned = identity.is(SPANS.name, "aligned");
        Ok(AnswerEvaluator::boxed(identity, move |case, response| {
            let Some(spans) = Spans::of(case.gold, response.answer.unwrap_or_default(), aligned) else {
                return Ok(Score::skipped("the case has no gold answers"));
            };
            let best = spans.gold.iter().map(|gold| aligned_f1(gold, &spans.answer)).fold(0.0, f64::max);
            Ok(Score::scored(ScoreValue::Number(best), None, Json::new()))
        }))
    },
};

/// The mean over the spans of the longer side.
fn aligned_f1(gold: &[Span], answer: &[Span]) -> f64 {
    let scores: Vec<Vec<f64>> = gold.iter().map(|gold| answer.iter().map(|span| f1(gold, span)).collect()).collect();
    rounded(best_sum(&scores) / gold.len().max(answer.len()).max(1) as f64, 2)
}

/// That of the forms that go together best.
fn f1(gold: &Span, answer: &Span) -> f64 {
    let pairs = gold.forms.iter().flat_map(|gold| answer.forms.iter().map(move |answer| (gold, answer)));
    pairs.map(|(gold, answer)| f1_of(gold, answer)).fold(0.0, f64::max)
}

/// As DROP has it, a side without words is right in all that it says.
fn f1_of(gold: &[String], answer: &[String]) -> f64 {
    let (gold, answer) = (distinct(gold), distinct(answer));
    let same = common(&gold, &answer) as f64;
    let share = |of: usize| if of == 0 { 1.0 } else { same / of as f64 };
    let (precision, recall) = (share(answer.len()), share(gold.len()));
    if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
}

fn distinct(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::score_of;

    fn f1(options: &str, spans: &[&str], scale: &str, answer: &str) -> f64 {
        let gold = Gold { value: json!({"spans": spans, "scale": scale}), ..Gold::default() };
        let score = score_of(&format!("tat_f1{options}"), &gold, Some(answer));
        score.value.and_then(|value| value.number()).expect("a number")
    }

    #[test]
    fn by_hand() {
        assert_eq!(f1("", &["88"], "thousand", "The answer is: 88,000"), 1.0);
        assert_eq!(f1("", &["88"], "thousand", "88"), 0.0);
        // Different words: {interest, cost, rose} and {interest, cost}: P 2/3, R 1, F1 0.8.
        assert_eq!(f1("", &["interest cost"], "", "The interest cost rose. Interest"), 0.8);
        // P 1/3, R 1: 0.5.
        assert_eq!(f1("", &["Rail"], "", "rail by sea"), 0.5);
        // P 1/3, R 1/2: 0.4.
        assert_eq!(f1("", &["Rail tunnel"], "", "rail by sea"), 0.4);
        // P 1, R 2/3: 0.8; a scale is a word behind a text.
        assert_eq!(f1("", &["rail tunnel"], "million", "tunnel rail"), 0.8);
        // P 1, R 1/2, to two decimals: 0.67.
        assert_eq!(f1("", &["rail tunnel"], "", "rail"), 0.67);
        assert_eq!(f1("", &["Rail"], "", ""), 0.0);
    }

    #[test]
    fn spans_go_together_one_to_one() {
        // Joined: {mining, rail} in any order.
        assert_eq!(f1("", &["Rail", "Mining"], "", "Rail and Mining"), 0.8);
        assert_eq!(f1("(spans=aligned)", &["Rail", "Mining"], "", "mining, rail"), 1.0);
        // One of two is there.
        assert_eq!(f1("(spans=aligned)", &["Rail", "Mining"], "", "Rail"), 0.5);
        // (1 + 2/3 + 0) / 3: `coal mining` has one of its two words.
        assert_eq!(f1("(spans=aligned)", &["Rail", "Mining"], "", "coal mining, rail, sea"), 0.56);
        // An answer that begins with a number is that number: P 1, R 1/2.
        assert_eq!(f1("", &["2019", "2018"], "", "2018, 2019"), 0.67);
        assert_eq!(f1("(spans=aligned)", &["2019", "2018"], "", "2018, 2019"), 1.0);
    }

    #[test]
    fn the_best_gold_answer_counts_and_none_is_skipped() {
        let gold = Gold { answers: vec!["sea".to_string(), "rail tunnel".to_string()], ..Gold::default() };
        let value = |answer| score_of("tat_f1", &gold, answer).value.and_then(|value| value.number());
        assert_eq!((value(Some("tunnel")), value(None)), (Some(0.67), Some(0.0)));
        assert_eq!(score_of("tat_f1", &Gold::default(), Some("x")).state, ScoreState::Skipped);
    }
}
