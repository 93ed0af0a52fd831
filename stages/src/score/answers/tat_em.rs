//! `tat_em`: the answer is the gold answer, as UDA-Benchmark's authors score questions on financial reports (spec/heta 12), by
//! their `tat_eval.py`, which is TAT-QA's.
//!
//! # What is compared
//!
//! The text after the last `The answer is:` with the gold spans, which are the typed gold value `{"spans": [...], "scale": "..."}`,
//! or else any one gold answer. Numbers are multiplied by their scale (hundred, thousand, million, billion, percent), a text has
//! it behind. An answer that begins with a number is that number, to two decimals or to four. Words are compared in lower case,
//! without punctuation, a, an and the.
//!
//! `spans=joined`: the gold spans, sorted, are one text, and so is the answer. The script can align spans, but joins them before
//! it does. An answer that lists years or amounts is therefore wrong in it: it begins with a number, and is that one. With
//! `spans=aligned` the answer is cut into parts (a list in brackets, lines, semicolons, commas), and each must be a gold span.
//!
//! Where the script differs, it stumbles: it reads `.5` as nothing, words such as `inf` as numbers, and tells 88.0 from 88.

use super::answer_evaluator::AnswerEvaluator;
use super::assignment::best_sum;
use super::tat_span::{SPANS, Span, Spans};
use crate::artifact::{Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static TAT_EM: Definition = Definition {
    name: "tat_em",
    pretty: "Exact Match of TAT-QA",
    description: "whether the answer is the gold spans with their scale, as UDA-Benchmark's authors compare them",
    citation: Some(
        "Zhu, Lei, Huang, Wang, Zhang, Lv, Feng and Chua. TAT-QA: A Question Answering Benchmark on a Hybrid of Tabular and Textual Content in Finance. ACL 2021.",
    ),
    higher_is_better: true,
    other_names: &["tatqa_em", "uda_tat_em"],
    cutoff: CutoffRule::None,
    parameters: &[SPANS],
    code_version: 1,
    build: |identity| {
        let aligned = identity.is(SPANS.name, "aligned");
        Ok(AnswerEvaluator::boxed(identity, move |case, response| {
            let Some(spans) = Spans::of(case.gold, response.answer.unwrap_or_default(), aligned) else {
                return Ok(Score::skipped("the case has no gold answers"));
            };
            let passed = spans.gold.iter().any(|gold| are_same(gold, &spans.answer));
            Ok(Score::scored(ScoreValue::Bool(passed), Some(passed), Json::new()))
        }))
    },
};

/// Whether each of one is one of the other, in any order.
fn are_same(gold: &[Span], answer: &[Span]) -> bool {
    let score = |gold: &Span| answer.iter().map(|span| f64::from(u8::from(span.is(gold)))).collect();
    let scores: Vec<Vec<f64>> = gold.iter().map(score).collect();
    gold.len() == answer.len() && best_sum(&scores) == gold.len() as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::score_of;

    fn passed(options: &str, spans: &[&str], scale: &str, answer: &str) -> bool {
        let gold = Gold { value: json!({"spans": spans, "scale": scale}), ..Gold::default() };
        score_of(&format!("tat_em{options}"), &gold, Some(answer)).passed.expect("a decision")
    }

    #[test]
    fn numbers_with_scales() {
        for (span, scale, answer) in [
            ("88", "thousand", "So it rose. The answer is: 88 thousand."),
            ("88", "thousand", "$88,000"),
            ("10.84", "percent", "10.84%"),
            ("10.84", "percent", "10.84 percent"),
            ("23.42", "percent", "0.2342"),
            ("411.5", "thousand", "411500"),
            ("3", "", "3 plants"),
            ("-12.3", "", "(12.3)"),
            ("1737.5", "", "1,737.50"),
        ] {
            assert!(passed("", &[span], scale, answer), "{span} {scale}: {answer}");
        }
        for (span, scale, answer) in
            [("88", "thousand", "88"), ("10.84", "percent", "10.84"), ("3", "", "There are 3"), ("5", "", "")]
        {
            assert!(!passed("", &[span], scale, answer), "{span} {scale}: {answer}");
        }
    }

    #[test]
    fn several_spans() {
        let both = ["Rail", "Mining"];
        assert!(passed("", &both, "", "The answer is: Mining, Rail."), "sorted as gold is");
        assert!(!passed("", &both, "", "Rail, Mining"), "joined texts have an order");
        assert!(
            passed("(spans=aligned)", &both, "", "rail; mining")
                && passed("(spans=aligned)", &both, "", "['Mining', 'Rail']")
        );
        assert!(
            !passed("(spans=aligned)", &both, "", "Rail, Mining, Sea")
                && !passed("(spans=aligned)", &both, "", "Rail, Rail")
        );
        let amounts = ["1,802", "1,673"];
        assert!(!passed("", &amounts, "", "1,673, 1,802"), "an answer that begins with a number is that number");
        assert!(passed("(spans=aligned)", &amounts, "million", "1,802 million, 1,673 million"));
    }

    #[test]
    fn gold_answers_stand_for_spans_where_there_are_none() {
        let gold = Gold { answers: vec!["Rail".to_string(), "12%".to_string()], ..Gold::default() };
        assert_eq!(score_of("tat_em", &gold, Some("12 percent")).passed, Some(true));
        assert_eq!(score_of("tat_em", &gold, None).passed, Some(false));
        assert_eq!(score_of("tat_em", &Gold::default(), Some("x")).state, ScoreState::Skipped);
    }
}
