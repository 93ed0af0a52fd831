//! `answer_length`: how long the answer is. Neither more nor less is better; it is there to be seen beside measures that
//! long answers please.

use super::answer_evaluator::AnswerEvaluator;
use crate::artifact::{Json, Score, ScoreValue};
use crate::python::is_whitespace;
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};

pub(crate) static ANSWER_LENGTH: Definition = Definition {
    name: "answer_length",
    pretty: "Answer Length",
    description: "words of the answer; neither more nor less is better",
    citation: None,
    higher_is_better: false,
    other_names: &["length", "word_count", "answer_words"],
    cutoff: CutoffRule::None,
    parameters: &[Parameter {
        name: "unit",
        description: "words: what whitespace parts; characters: Unicode characters, whitespace at the ends aside",
        kind: ParameterKind::Choice(&["words", "characters"]),
    }],
    code_version: 1,
    build: |identity| {
        let count = if identity.is("unit", "characters") { characters } else { words };
        Ok(AnswerEvaluator::boxed(identity, move |_, response| {
            Ok(match response.answer {
                Some(answer) => Score::scored(ScoreValue::Number(count(answer) as f64), None, Json::new()),
                None => Score::skipped("there is no answer"),
            })
        }))
    },
};

fn words(answer: &str) -> usize {
    answer.split(is_whitespace).filter(|word| !word.is_empty()).count()
}

fn characters(answer: &str) -> usize {
    crate::python::strip(answer).chars().count()
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Gold, ScoreState};
    use crate::score::test_case::score_of;

    #[test]
    fn words_and_characters() {
        let length =
            |text: &str, answer| score_of(text, &Gold::default(), answer).value.and_then(|value| value.number());
        assert_eq!(length("answer_length", Some(" It's  high\ttide. ")), Some(3.0));
        assert_eq!(length("answer_length(unit=characters)", Some(" Flut 高潮\n")), Some(7.0));
        assert_eq!(length("answer_length", Some("")), Some(0.0));
        let none = score_of("answer_length", &Gold::default(), None);
        assert_eq!(none.state, ScoreState::Skipped);
    }
}
