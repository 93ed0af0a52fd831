//! `numeric_match`: a number of the answer is the gold number, near enough. How numbers are read is said in
//! `number_reader.rs`.
//!
//! # The gold number
//!
//! The typed gold value where it is a number or a text with one number; otherwise each gold answer that has exactly one
//! number. With neither the case is skipped.
//!
//! # Which number of the answer
//!
//! `pick=any` (the default) passes where any does, `last` looks at the last one, and `stated` at the first one after the last
//! `answer is` or `answer:`, or the last one of an answer that does not say so.
//!
//! # Near enough
//!
//! It is off by at most `tolerance` (0.01) times the gold number, or at most `absolute` (0). A gold number that reads as a
//! year (a bare 1900 to 2099) must be met exactly: a hundredth of it is twenty years.
//!
//! `variant=uda_fin` is the rule of UDA-Benchmark's authors for financial questions (`uda_fin.rs`), against the gold answers.

use serde_json::Value;

use super::answer_evaluator::AnswerEvaluator;
use super::answer_match::match_any;
use super::number::Number;
use super::number_agreement::{NumberAgreement, Percent, Scale};
use super::number_reader::{DecimalSign, numbers};
use super::stated_answer::stated;
use super::uda_fin;
use crate::artifact::{Gold, Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, Evaluator, ResponseView};
use crate::score::identity::Identity;

pub(crate) static NUMERIC_MATCH: Definition = Definition {
    name: "numeric_match",
    pretty: "Numeric Match",
    description: "whether a number of the answer is the gold number, within a tolerance",
    citation: None,
    higher_is_better: true,
    other_names: &["number_match", "numeric_accuracy", "numerical_accuracy", "finqa"],
    cutoff: CutoffRule::None,
    parameters: &[
        Parameter {
            name: "absolute",
            description: "how much the number may be off, whatever the gold number is",
            kind: ParameterKind::Real { min: 0.0, max: 1e15, default: 0.0 },
        },
        Parameter {
            name: "decimal",
            description: "the sign before decimals: point (1,234.5) or comma (1.234,5)",
            kind: ParameterKind::Choice(&["point", "comma"]),
        },
        Parameter {
            name: "percent",
            description: "ratio: 5% is 0.05; same: 5% is 5; either: it may be both",
            kind: ParameterKind::Choice(&["ratio", "same", "either"]),
        },
        Parameter {
            name: "pick",
            description: "which number of the answer counts: any, the last, or the one after \"answer is\"",
            kind: ParameterKind::Choice(&["any", "last", "stated"]),
        },
        Parameter {
            name: "scale",
            description: "apply: 5 million is 5,000,000; optional: it may be 5 too where one side has no scale word; ignore: \
                          it is 5",
            kind: ParameterKind::Choice(&["apply", "optional", "ignore"]),
        },
        Parameter {
            name: "tolerance",
            description: "which share of the gold number the number may be off",
            kind: ParameterKind::Real { min: 0.0, max: 1.0, default: 0.01 },
        },
        Parameter {
            name: "variant",
            description: "uda_fin: as UDA-Benchmark's authors score financial questions; it has no other options",
            kind: ParameterKind::Choice(&["standard", "uda_fin"]),
        },
    ],
    code_version: 2,
    build,
};

fn build(identity: Identity) -> Result<Box<dyn Evaluator>, String> {
    if identity.is("variant", "uda_fin") {
        let fixed = identity.changed("variant");
        if !fixed.is_empty() {
            return Err(format!("variant=uda_fin of numeric_match fixes {}", fixed.join(", ")));
        }
        return Ok(AnswerEvaluator::boxed(identity, |case, response| Ok(uda_fin(case, response))));
    }
    let rule = NumericMatch {
        agreement: NumberAgreement {
            percent: match () {
                () if identity.is("percent", "same") => Percent::Same,
                () if identity.is("percent", "either") => Percent::Either,
                () => Percent::Ratio,
            },
            scale: match () {
                () if identity.is("scale", "optional") => Scale::Optional,
                () if identity.is("scale", "ignore") => Scale::Ignore,
                () => Scale::Apply,
            },
            tolerance: identity.real("tolerance"),
            absolute: identity.real("absolute"),
        },
        decimal: if identity.is("decimal", "comma") { DecimalSign::Comma } else { DecimalSign::Point },
        pick: match () {
            () if identity.is("pick", "last") => Pick::Last,
            () if identity.is("pick", "stated") => Pick::Stated,
            () => Pick::Any,
        },
    };
    Ok(AnswerEvaluator::boxed(identity, move |case, response| Ok(rule.evaluate(case, response))))
}

/// Which number of the answer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    Any,
    Last,
    Stated,
}

struct NumericMatch {
    agreement: NumberAgreement,
    decimal: DecimalSign,
    pick: Pick,
}

impl NumericMatch {
    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Score {
        let gold = self.gold(case.gold);
        if gold.is_empty() {
            return Score::skipped("the case has no gold number");
        }
        let found = self.found(response.answer.unwrap_or_default());
        let matched = found.iter().find(|number| gold.iter().any(|gold| self.agreement.holds(number, gold)));
        let stated = |numbers: &[Number]| -> Value { numbers.iter().map(Number::stated).collect() };
        let mut detail = Json::new();
        detail.insert("gold".to_string(), stated(&gold));
        detail.insert("numbers".to_string(), stated(&found));
        if let Some(matched) = matched {
            detail.insert("matched".to_string(), matched.stated().into());
        }
        let passed = matched.is_some();
        Score::scored(ScoreValue::Bool(passed), Some(passed), detail)
    }

    fn gold(&self, gold: &Gold) -> Vec<Number> {
        let only = |text: &str| match numbers(text, self.decimal).as_slice() {
            [number] => Some(*number),
            _ => None,
        };
        let value = match &gold.value {
            Value::Number(number) => number.as_f64().map(Number::plain),
            Value::String(text) => only(text),
            _ => None,
        };
        match value {
            Some(number) => vec![number],
            None => gold.answers.iter().filter_map(|answer| only(answer)).collect(),
        }
    }

    /// The numbers of an answer that count.
    fn found(&self, answer: &str) -> Vec<Number> {
        let all = |text: &str| numbers(text, self.decimal);
        match self.pick {
            Pick::Any => all(answer),
            Pick::Last => all(answer).pop().into_iter().collect(),
            Pick::Stated => {
                let first = stated(answer).pop().and_then(|after| all(after).first().copied());
                first.or_else(|| all(answer).pop()).into_iter().collect()
            }
        }
    }
}

fn uda_fin(case: &CaseView, response: &ResponseView) -> Score {
    let answer = response.answer.unwrap_or_default();
    match_any(case, |gold| uda_fin::agrees(answer, gold))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::score::test_case::{score, score_of};

    fn passed(options: &str, gold: &str, answer: &str) -> bool {
        score(&format!("numeric_match{options}"), &[gold], answer).passed.expect("a decision")
    }

    #[test]
    fn numbers_agree_within_the_tolerance() {
        let same = [
            ("1,577", "Net sales were $1577.00 in 2018."),
            ("$1.5 billion", "1,500 million"),
            ("12.5%", "a ratio of 0.125"),
            ("-3.1", "It fell: (3.1)"),
            ("100", "101"),
            ("0", "0"),
            ("1 234,", "１２３４"),
            ("5,000,000", "about five million of them"),
            ("150,000,000", "1.5亿元"),
        ];
        for (gold, answer) in same {
            assert!(passed("", gold, answer), "{gold}: {answer}");
        }
        let others = [
            ("100", "101.1"),
            ("3.1", "(3.1)"),
            ("12.5%", "12.5"),
            ("1577", "$1,577 million"),
            ("2019", "In 2020."),
            ("0", "0.001"),
            ("5", "no number"),
            ("5", ""),
        ];
        for (gold, answer) in others {
            assert!(!passed("", gold, answer), "{gold}: {answer}");
        }
    }

    #[test]
    fn options_say_what_agrees() {
        assert!(passed("(tolerance=0.05)", "100", "105") && !passed("(tolerance=0)", "100", "100.01"));
        assert!(
            passed("(absolute=0.5,tolerance=0)", "0", "-0.5") && !passed("(absolute=0.5,tolerance=0)", "10", "10.6")
        );
        assert!(passed("(percent=same)", "12.5", "12.5%") && !passed("(percent=same)", "0.125", "12.5%"));
        assert!(passed("(percent=either)", "12.5", "12.5%") && passed("(percent=either)", "0.125", "12.5%"));
        assert!(
            passed("(scale=optional)", "1577", "$1,577 million")
                && passed("(scale=optional)", "1577000000", "1,577 mn")
        );
        assert!(
            !passed("(scale=optional)", "5 thousand", "5 million") && passed("(scale=ignore)", "5 thousand", "5 mn")
        );
        assert!(passed("(decimal=comma)", "1.234,5", "1234,5 €"));
        assert!(!passed("(pick=last)", "5", "5 of 9") && passed("(pick=last)", "9", "5 of 9"));
        assert!(
            passed("(pick=stated)", "5", "Of 9. The answer is 5 of them, not 7.")
                && passed("(pick=stated)", "7", "5, 7")
        );
        assert!(passed("(variant=uda_fin)", "0.125", "So the rest. The answer is: 12.5%"));
        assert!(!passed("(variant=uda_fin)", "0.125", "It is 12.5%"));
    }

    #[test]
    fn gold_is_a_value_or_an_answer_with_one_number() {
        let of = |gold: &Gold| score_of("numeric_match", gold, Some("It is 12.5%"));
        let answers = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let value = Gold { value: json!(0.125), answers: answers(&["7"]), ..Gold::default() };
        let detail = json!({"gold": [0.125], "numbers": [0.125], "matched": 0.125});
        assert_eq!(json!(of(&value).detail), detail);
        assert_eq!(of(&Gold { value: json!("12.5 %"), ..Gold::default() }).passed, Some(true));
        assert_eq!(
            of(&Gold { value: json!([1]), answers: answers(&["5 of 9", "0.125"]), ..Gold::default() }).passed,
            Some(true)
        );
        assert_eq!(of(&Gold { answers: answers(&["5 of 9", "yes"]), ..Gold::default() }).passed, None);
    }
}
