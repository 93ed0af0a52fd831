//! `token_f1`: the overlap of words between answer and gold, as SQuAD's own script computes it.

use std::collections::BTreeMap;

use super::answer_evaluator::AnswerEvaluator;
use super::definition::{CutoffRule, Definition};
use super::evaluator::{CaseView, ResponseView};
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::RowError;
use crate::python::{is_alphanumeric, is_whitespace};

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
    parameters: &[],
    code_version: 1,
    build: |identity| Ok(AnswerEvaluator::boxed(identity, evaluate)),
};

fn evaluate(case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
    let answer = tokens(response.answer.unwrap_or_default());
    let mut best: Option<(Overlap, &str)> = None;
    for gold in &case.gold.answers {
        let overlap = Overlap::of(&answer, &tokens(gold));
        // Of equally good gold answers the first.
        if best.is_none_or(|(known, _)| overlap.f1 > known.f1) {
            best = Some((overlap, gold));
        }
    }
    let Some((overlap, gold)) = best else {
        return Ok(Score::skipped("the case has no gold answers"));
    };
    let mut detail = Json::new();
    detail.insert("best_answer".to_string(), gold.into());
    detail.insert("precision".to_string(), overlap.precision.into());
    detail.insert("recall".to_string(), overlap.recall.into());
    Ok(Score::scored(ScoreValue::Number(overlap.f1), None, detail))
}

/// How well two bags of words agree, each number in [0, 1].
#[derive(Debug, Clone, Copy)]
struct Overlap {
    precision: f64,
    recall: f64,
    f1: f64,
}

impl Overlap {
    fn of(answer: &[String], gold: &[String]) -> Self {
        // SQuAD 2: where one side has no words, they agree if the other has none either.
        if answer.is_empty() || gold.is_empty() {
            let agree = f64::from(u8::from(answer.is_empty() && gold.is_empty()));
            return Overlap { precision: agree, recall: agree, f1: agree };
        }
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for token in gold {
            *left.entry(token).or_default() += 1;
        }
        let mut same = 0u32;
        for token in answer {
            if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                same += 1;
            }
        }
        if same == 0 {
            return Overlap { precision: 0.0, recall: 0.0, f1: 0.0 };
        }
        let precision = f64::from(same) / answer.len() as f64;
        let recall = f64::from(same) / gold.len() as f64;
        Overlap { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}

/// Lower case, no ASCII punctuation, no articles, split at whitespace: in this order, so that `a.m.` becomes `am` and not
/// an article.
fn tokens(text: &str) -> Vec<String> {
    let bare: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut kept = String::with_capacity(bare.len());
    let mut rest = bare.as_str();
    while !rest.is_empty() {
        // An article counts as a whole word, also beside a dash that is no ASCII punctuation.
        let word_end = rest.find(|c: char| !is_alphanumeric(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        kept.push_str(if matches!(word, "a" | "an" | "the") { " " } else { word });
        let gap_end = after.find(is_alphanumeric).unwrap_or(after.len());
        let (gap, next) = after.split_at(gap_end);
        kept.push_str(gap);
        rest = next;
    }
    kept.split(is_whitespace).filter(|token| !token.is_empty()).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Gold, ScoreState};
    use crate::score::{EvaluatorSpec, evaluator};

    fn score(gold: &[&str], answer: Option<&str>) -> Score {
        let evaluator = evaluator(&EvaluatorSpec::parse("token_f1").expect("a spec")).expect("an evaluator");
        let gold = Gold { answers: gold.iter().map(|text| text.to_string()).collect(), ..Gold::default() };
        let response = ResponseView { results: &[], answer, citations: &[] };
        evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).expect("a score")
    }

    fn f1(gold: &[&str], answer: Option<&str>) -> f64 {
        score(gold, answer).value.and_then(|value| value.number()).expect("a number")
    }

    #[test]
    fn words_are_lower_case_without_punctuation_and_articles() {
        assert_eq!(tokens("The U.S. Army's \"a.m.\" shift, an hour"), ["us", "armys", "am", "shift", "hour"]);
        assert_eq!(tokens("left–the–right theatre"), ["left–", "–right", "theatre"]);
        // A combining mark or a circled letter ends a word.
        assert_eq!(tokens("a\u{301} ⓐthe anⓑ"), ["\u{301}", "ⓐ", "ⓑ"]);
        assert!(tokens(" the, a! ").is_empty());
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
        assert_eq!(score(&[], Some("Lisbon")).state, ScoreState::Skipped);
    }
}
