//! `label_accuracy`: the label that the answer names is the gold label, for choices, yes/no questions and classes.
//!
//! # Labels
//!
//! Those of the option `labels`; otherwise the gold metadata's `labels`, `choices` or `options` (a list of texts, or an object
//! with a text for each label: its keys); otherwise, where the gold answer is `yes`, `no`, `true`, `false` or a single letter,
//! these four words by twos, or the letters from A to Z. A gold answer that is none of them skips the case.
//!
//! # Which label an answer names
//!
//! Where `answer is` or `answer:` is followed by a label, that one; otherwise every label in the text, as whole words and letter
//! case aside; a letter must be a capital on its own, in brackets, or before `)`, `.` or `:` (`(b)`, `B.`, `option B`). The
//! longest label at a place counts: `not entailed` does not name `entailed`. With `pick=start` a label counts only at the start
//! of the text or after `answer is`, so that `Yes, there is no doubt` is `yes`.
//!
//! An answer that names two labels, or none, is wrong, and the detail says which and why.

use serde_json::Value;

use super::answer_evaluator::AnswerEvaluator;
use super::label_reader::{LabelReader, label};
use crate::artifact::{Gold, Json, Score, ScoreValue};
use crate::score::definition::{CutoffRule, Definition, Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, ResponseView};

pub(crate) static LABEL_ACCURACY: Definition = Definition {
    name: "label_accuracy",
    pretty: "Label Accuracy",
    description: "whether the one label that the answer names is the gold label",
    citation: None,
    higher_is_better: true,
    other_names: &["accuracy", "choice_accuracy", "multiple_choice", "yes_no", "classification_accuracy"],
    cutoff: CutoffRule::None,
    parameters: &[
        Parameter {
            name: "labels",
            description: "the labels that there are; without them the gold metadata's, or yes/no, true/false and letters",
            kind: ParameterKind::Texts(&[]),
        },
        Parameter {
            name: "pick",
            description: "anywhere: every label in the text counts; start: only what the text, or its \"answer is\", begins with",
            kind: ParameterKind::Choice(&["anywhere", "start"]),
        },
    ],
    code_version: 1,
    build: |identity| {
        let rule = LabelAccuracy::new(identity.texts("labels"), identity.is("pick", "start"));
        Ok(AnswerEvaluator::boxed(identity, move |case, response| Ok(rule.evaluate(case, response))))
    },
};

/// Labels that are known without being listed.
const KNOWN: [&[&str]; 3] = [
    &["yes", "no"],
    &["true", "false"],
    &[
        "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V",
        "W", "X", "Y", "Z",
    ],
];

/// The labels that there are, with a reader of them.
struct Labels {
    labels: Vec<String>,
    reader: LabelReader,
}

impl Labels {
    fn new(labels: &[&str], at_start: bool) -> Self {
        Labels {
            labels: labels.iter().map(|text| label(text)).collect(),
            reader: LabelReader::new(labels.iter().copied(), at_start),
        }
    }
}

struct LabelAccuracy {
    /// Those of the option.
    given: Option<Labels>,
    known: [Labels; 3],
    at_start: bool,
}

impl LabelAccuracy {
    fn new(given: &[String], at_start: bool) -> Self {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        LabelAccuracy {
            given: (!given.is_empty()).then(|| Labels::new(&given, at_start)),
            known: KNOWN.map(|labels| Labels::new(labels, at_start)),
            at_start,
        }
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Score {
        if case.gold.answers.is_empty() {
            return Score::skipped("the case has no gold answers");
        }
        let gold: Vec<String> = case.gold.answers.iter().map(|answer| label(answer)).collect();
        let is_known = |labels: &&Labels| labels.labels.iter().any(|label| gold.contains(label));
        let own;
        let labels = match (&self.given, listed(case.gold)) {
            (Some(given), _) => Some(given),
            (None, Some(listed)) => {
                own = Labels::new(&listed, self.at_start);
                Some(&own)
            }
            (None, None) => self.known.iter().find(is_known),
        };
        let Some(labels) = labels else {
            return Score::skipped("the labels are not known: give the option labels");
        };
        if !is_known(&labels) {
            return Score::skipped("no gold answer is one of the labels");
        }
        let named = labels.reader.named(response.answer.unwrap_or_default());
        let mut detail = Json::new();
        let passed = match named.as_slice() {
            [one] => {
                detail.insert("label".to_string(), one.as_str().into());
                gold.contains(one)
            }
            [] => {
                detail.insert("reason".to_string(), "the answer names no label".into());
                false
            }
            several => {
                detail.insert("reason".to_string(), "the answer names several labels".into());
                detail.insert("labels".to_string(), several.into());
                false
            }
        };
        detail.insert("gold".to_string(), gold.into());
        Score::scored(ScoreValue::Bool(passed), Some(passed), detail)
    }
}

/// The labels that the gold metadata lists.
fn listed(gold: &Gold) -> Option<Vec<&str>> {
    let labels = ["labels", "choices", "options"].iter().find_map(|name| match gold.metadata.get(*name)? {
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
        Value::Object(map) => Some(map.keys().map(String::as_str).collect()),
        _ => None,
    });
    labels.filter(|labels| !labels.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::ScoreState;
    use crate::score::test_case::{score, score_of};

    /// The label that is found, or why none is.
    fn found(text: &str, gold: &str, answer: &str) -> String {
        let score = score(text, &[gold], answer);
        let field = |name: &str| score.detail.get(name)?.as_str().map(str::to_string);
        let label = field("label").or_else(|| field("reason")).expect("a label or a reason");
        assert_eq!(score.passed, Some(label == super::label(gold)), "{answer}");
        label
    }

    const NONE: &str = "the answer names no label";
    const SEVERAL: &str = "the answer names several labels";

    #[test]
    fn letters() {
        for answer in [
            "B",
            "b",
            "(B)",
            "(b)",
            "B.",
            "B)",
            "[B]",
            "**B**",
            "B: the tide",
            "Answer: B",
            "the answer is (b) because A is wrong",
            "It must be option B",
            "So B is right.",
            "The correct answer is: **B. Lisbon**",
            "A tide table, that is B.",
            "b) Lisbon",
            "I think it's B",
            "Final answer: option B",
        ] {
            assert_eq!(found("label_accuracy", "B", answer), "B", "{answer}");
        }
        assert_eq!(found("label_accuracy", "(a)", "Option A"), "A");
        assert_eq!(found("label_accuracy", "A", "A"), "A");
        assert_eq!(found("label_accuracy", "B", "A tide table."), NONE);
        assert_eq!(found("label_accuracy", "B", "I don't know"), NONE);
        assert_eq!(found("label_accuracy", "B", "A-team's vitamin"), NONE);
        assert_eq!(found("label_accuracy", "B", "the answer is a boat"), NONE);
        assert_eq!(found("label_accuracy", "B", "B or C"), SEVERAL);
        assert_eq!(found("label_accuracy", "B", "Answer: B. Or rather, answer: C"), SEVERAL);
        assert_eq!(found("label_accuracy", "B", ""), NONE);
    }

    #[test]
    fn words() {
        let yes_no = |answer| found("label_accuracy", "Yes.", answer);
        assert_eq!(yes_no("YES"), "yes");
        assert_eq!(yes_no("Yes, it was known."), "yes");
        assert_eq!(yes_no("I know nothing"), NONE);
        assert_eq!(yes_no("Yes and no"), SEVERAL);
        assert_eq!(yes_no("Yes, there is no doubt."), SEVERAL);
        assert_eq!(yes_no("There is no doubt, the answer is yes."), "yes");
        assert_eq!(found("label_accuracy(pick=start)", "yes", "Yes, there is no doubt."), "yes");
        assert_eq!(found("label_accuracy(pick=start)", "yes", "I say yes"), NONE);
        assert_eq!(found("label_accuracy", "true", "That is False."), "false");
        let classes = "label_accuracy(labels=[\"entailed\",\"not entailed\",\"neutral\"])";
        assert_eq!(found(classes, "Not entailed", "It is not  entailed by it"), "not entailed");
        assert_eq!(found(classes, "entailed", "entailed, not neutral"), SEVERAL);
    }

    #[test]
    fn labels_of_the_case() {
        let gold = |answer: &str, metadata: Value| Gold {
            answers: vec![answer.to_string()],
            metadata: serde_json::from_value(metadata).expect("fields"),
            ..Gold::default()
        };
        let listed = gold("Lisbon", json!({"choices": ["Lisbon", "Porto"]}));
        assert_eq!(score_of("label_accuracy", &listed, Some("in lisbon")).passed, Some(true));
        let lettered = gold("b", json!({"options": {"A": "Lisbon", "B": "Porto"}}));
        assert_eq!(score_of("label_accuracy", &lettered, Some("B")).passed, Some(true));
        for unknown in [gold("Lisbon", json!({})), gold("Faro", json!({"choices": ["Lisbon"]})), Gold::default()] {
            assert_eq!(score_of("label_accuracy", &unknown, Some("Lisbon")).state, ScoreState::Skipped);
        }
        assert_eq!(score_of("label_accuracy", &listed, None).passed, Some(false));
    }
}
