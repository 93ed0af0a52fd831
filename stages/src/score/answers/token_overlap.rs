//! The overlap of words between answer and gold, which `token_f1`, `token_precision` and `token_recall` are of.

use super::answer_evaluator::AnswerEvaluator;
use super::bag::common;
use crate::artifact::{Json, Score, ScoreValue};
use crate::score::definition::{Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, Evaluator, ResponseView};
use crate::score::identity::Identity;
use crate::score::plain_text::words;
use crate::score::{openviking_text, squad_text};

/// `normal`: how texts are made comparable before they are split into words.
pub(super) const NORMAL: Parameter = Parameter {
    name: "normal",
    description: "squad: without punctuation, a, an and the; openviking: without \"and\" too, and 0 where both are empty",
    kind: ParameterKind::Choice(&["squad", "openviking"]),
};

/// How well two bags of words agree, each number in [0, 1].
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlap {
    pub(super) precision: f64,
    pub(super) recall: f64,
    pub(super) f1: f64,
}

/// The evaluator of `measure`, against the gold answer for which it is best.
pub(super) fn build(identity: Identity, measure: fn(&Overlap) -> f64) -> Box<dyn Evaluator> {
    let openviking = identity.is("normal", "openviking");
    let normal = if openviking { openviking_text::normalize } else { squad_text::normalize };
    let of_nothing = if openviking { 0.0 } else { 1.0 };
    AnswerEvaluator::boxed(identity, move |case, response| Ok(evaluate(case, response, normal, of_nothing, measure)))
}

fn evaluate(
    case: &CaseView,
    response: &ResponseView,
    normal: fn(&str) -> String,
    of_nothing: f64,
    measure: fn(&Overlap) -> f64,
) -> Score {
    let answer = normal(response.answer.unwrap_or_default());
    let answer = sorted(&answer);
    let mut best: Option<(Overlap, &str)> = None;
    for gold in &case.gold.answers {
        let overlap = Overlap::of(&answer, &sorted(&normal(gold)), of_nothing);
        // Of equally good gold answers the first.
        if best.is_none_or(|(known, _)| measure(&overlap) > measure(&known)) {
            best = Some((overlap, gold));
        }
    }
    let Some((overlap, gold)) = best else {
        return Score::skipped("the case has no gold answers");
    };
    let mut detail = Json::new();
    detail.insert("best_answer".to_string(), gold.into());
    detail.insert("precision".to_string(), overlap.precision.into());
    detail.insert("recall".to_string(), overlap.recall.into());
    Score::scored(ScoreValue::Number(measure(&overlap)), None, detail)
}

/// The words of a text in normal form, as a sorted bag.
pub(super) fn sorted(normal: &str) -> Vec<&str> {
    let mut words = words(normal);
    words.sort_unstable();
    words
}

impl Overlap {
    /// That of two sorted bags. SQuAD 2: where one side has no words, they agree if the other has none either;
    /// `of_nothing` says how well.
    pub(super) fn of(answer: &[&str], gold: &[&str], of_nothing: f64) -> Self {
        if answer.is_empty() && gold.is_empty() {
            return Overlap { precision: of_nothing, recall: of_nothing, f1: of_nothing };
        }
        let same = common(answer, gold);
        if same == 0 {
            return Overlap { precision: 0.0, recall: 0.0, f1: 0.0 };
        }
        let precision = same as f64 / answer.len() as f64;
        let recall = same as f64 / gold.len() as f64;
        // In this order of operations the last bit is that of the scripts.
        Overlap { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}
