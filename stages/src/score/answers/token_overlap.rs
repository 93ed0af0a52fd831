//! The overlap of words between answer and gold, which `token_f1`, `token_precision` and `token_recall` are of.

use serde::Serialize;

use super::answer_evaluator::AnswerEvaluator;
use super::bag::common_words;
use crate::artifact::{Detail, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};
use crate::score::definition::{Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, Evaluator, ResponseView};
use crate::score::identity::Identity;
use crate::score::plain_text::PlainWords;
use crate::score::{openviking_text, squad_text};

/// `normal`: how texts are made comparable before they are split into words.
pub(super) const NORMAL: Parameter = Parameter {
    name: "normal",
    description: "squad: without punctuation, a, an and the; openviking: without \"and\" too, and 0 where both are empty; \
                  hotpotqa: as squad, but yes, no and noanswer agree with themselves alone, and 0 where both are empty",
    kind: ParameterKind::Choice(&["squad", "openviking", "hotpotqa"]),
};

/// How well two bags of words agree, each number in [0, 1].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overlap {
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    pub(crate) f1: f64,
}

/// How the words of two texts are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverlapRule {
    words: fn(&str) -> PlainWords,
    /// How well two texts without words agree.
    of_nothing: f64,
    /// Texts, in normal form, that no other text agrees with in part.
    whole: &'static [&'static str],
}

impl OverlapRule {
    const SQUAD: OverlapRule = OverlapRule { words: squad_text::words, of_nothing: 1.0, whole: &[] };
    pub(super) const OPENVIKING: OverlapRule =
        OverlapRule { words: openviking_text::words, of_nothing: 0.0, whole: &[] };
    /// That of HotpotQA's `hotpot_evaluate_v1.py`.
    pub(crate) const HOTPOTQA: OverlapRule =
        OverlapRule { words: squad_text::words, of_nothing: 0.0, whole: &["yes", "no", "noanswer"] };

    fn of(identity: &Identity) -> Self {
        if identity.is("normal", "openviking") {
            OverlapRule::OPENVIKING
        } else if identity.is("normal", "hotpotqa") {
            OverlapRule::HOTPOTQA
        } else {
            OverlapRule::SQUAD
        }
    }

    /// The overlap of `answer` with the one of `golds` for which `measure` of it is greatest, the first among equals; `None`
    /// without any.
    pub(crate) fn best<'a>(
        &self,
        answer: &str,
        golds: &'a [String],
        measure: fn(&Overlap) -> f64,
    ) -> Option<(Overlap, &'a str)> {
        let answer = (self.words)(answer);
        let said = answer.words();
        let mut best: Option<(Overlap, &str)> = None;
        for gold in golds {
            let plain = (self.words)(gold);
            let wanted = plain.words();
            let is_whole =
                |words: &[&[u8]]| matches!(words, [only] if self.whole.iter().any(|text| text.as_bytes() == *only));
            let apart = (is_whole(&said) || is_whole(&wanted)) && said != wanted;
            let overlap = if apart { Overlap::NONE } else { Overlap::of(&said, &wanted, self.of_nothing) };
            if best.is_none_or(|(known, _)| measure(&overlap) > measure(&known)) {
                best = Some((overlap, gold));
            }
        }
        best
    }
}

/// The evaluator of `measure`, against the gold answer for which it is best.
pub(super) fn build(identity: Identity, measure: fn(&Overlap) -> f64) -> Box<dyn Evaluator> {
    let rule = OverlapRule::of(&identity);
    AnswerEvaluator::boxed(identity, move |case, response| evaluate(case, response, rule, measure))
}

fn evaluate(
    case: &CaseView,
    response: &ResponseView,
    rule: OverlapRule,
    measure: fn(&Overlap) -> f64,
) -> Result<Score, RowError> {
    let best = rule.best(response.answer.unwrap_or_default(), &case.gold.answers, measure);
    let Some((overlap, gold)) = best else {
        return Ok(Score::skipped("the case has no gold answers"));
    };
    let Overlap { precision, recall, .. } = overlap;
    let detail = Detail::of_sorted_fields(&BestAnswer { best_answer: gold, precision, recall });
    let detail = detail.map_err(|error| RowError::new(RowErrorKind::Evaluator, error.to_string()))?;
    Ok(Score::scored(ScoreValue::Number(measure(&overlap)), None, detail))
}

/// What led to a score, its fields in the order of their names.
#[derive(Serialize)]
struct BestAnswer<'a> {
    best_answer: &'a str,
    precision: f64,
    recall: f64,
}

impl Overlap {
    const NONE: Overlap = Overlap { precision: 0.0, recall: 0.0, f1: 0.0 };

    /// That of two bags of words. SQuAD 2: where one side has no words, they agree if the other has none either;
    /// `of_nothing` says how well.
    pub(super) fn of<W: Ord + Copy>(answer: &[W], gold: &[W], of_nothing: f64) -> Self {
        if answer.is_empty() && gold.is_empty() {
            return Overlap { precision: of_nothing, recall: of_nothing, f1: of_nothing };
        }
        let same = common_words(answer, gold);
        if same == 0 {
            return Overlap::NONE;
        }
        let precision = same as f64 / answer.len() as f64;
        let recall = same as f64 / gold.len() as f64;
        // In this order of operations the last bit is that of the scripts.
        Overlap { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}
