//! What is expected of UDA-Benchmark's questions.

use serde_json::{Value, json};

use super::extended::{Entry, Extended};
use super::subset::UdaSubset;
use crate::error::InputError;
use crate::python::{NoList, strip, text_list};

/// Gold answers, and the typed gold value where there is one.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) answers: Vec<String>,
    pub(super) value: Value,
}

/// What stands behind a figure of TAT-QA.
const SCALES: [&str; 6] = ["", "hundred", "thousand", "million", "billion", "percent"];

impl Expected {
    /// What the cells of a question, and its entry in the extended file, expect. `cell` gives the stripped text of a column;
    /// `error` makes an error of the question's record.
    pub(super) fn of<'c>(
        subset: UdaSubset,
        cell: &dyn Fn(&str) -> &'c str,
        entry: Option<(&Extended, &Entry)>,
        error: &dyn Fn(String) -> InputError,
        errors: &mut Vec<InputError>,
    ) -> Self {
        match subset {
            UdaSubset::Fin => {
                let mut texts = Vec::new();
                let mut value = Value::Null;
                if let Some((extended, entry)) = entry {
                    let fields = extended.fields(entry);
                    if let Some(answers) = fields.nested("answers", errors) {
                        // As the authors have them: the text, then what the program gave.
                        for key in ["str_answer", "exe_answer"] {
                            texts.extend(answers.verbatim(key, errors));
                        }
                        value = answers.value("exe_answer").cloned().unwrap_or_default();
                    }
                }
                texts.extend(subset.columns().iter().map(|column| cell(column).to_string()));
                Expected { answers: distinct(texts), value }
            }
            UdaSubset::Tat => tat(cell, error, errors),
            UdaSubset::PaperText | UdaSubset::PaperTab | UdaSubset::Feta | UdaSubset::Nq => {
                let texts = subset.columns().iter().map(|column| cell(column).to_string());
                Expected { answers: distinct(texts), value: Value::Null }
            }
        }
    }
}

/// The spans of TAT-QA with their scale: as a typed value for the evaluators that know what to do with it, and as one text.
fn tat<'c>(
    cell: &dyn Fn(&str) -> &'c str,
    error: &dyn Fn(String) -> InputError,
    errors: &mut Vec<InputError>,
) -> Expected {
    let scale = cell("answer_scale");
    if !SCALES.contains(&scale) {
        let message = format!("`answer_scale` is {scale:?}; expected nothing, or one of {}", SCALES[1..].join(", "));
        errors.push(error(message));
    }
    let spans = match text_list(cell("answer")) {
        Ok(spans) => spans,
        Err(NoList { column, expected }) => {
            let message = format!("`answer` is no list: expected {expected} at its character {column}");
            errors.push(error(message).hint("a list of texts as Python writes it, e.g. ['3.5', 'Mining']"));
            return Expected::default();
        }
    };
    let spans: Vec<&str> = spans.iter().map(|span| strip(span)).filter(|span| !span.is_empty()).collect();
    if spans.is_empty() {
        return Expected::default();
    }
    let joined = spans.join(", ");
    let answer = match scale {
        "" => joined,
        "percent" if joined.ends_with('%') => joined,
        "percent" if spans.len() == 1 => format!("{joined}%"),
        scale => format!("{joined} {scale}"),
    };
    Expected { answers: vec![answer], value: json!({"spans": spans, "scale": scale, "type": cell("answer_type")}) }
}

/// `texts`, stripped, each once, without the blank ones.
fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        let text = strip(&text);
        if !text.is_empty() && !distinct.iter().any(|known| known == text) {
            distinct.push(text.to_string());
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    fn expected(subset: UdaSubset, cells: &[(&str, &'static str)]) -> Result<Expected, Vec<String>> {
        let cell = |column: &str| cells.iter().find(|(name, _)| *name == column).map_or("", |(_, cell)| *cell);
        let mut errors = Vec::new();
        let error = |message| InputError::new(Place::line("f", 7), message);
        let expected = Expected::of(subset, &cell, None, &error, &mut errors);
        if errors.is_empty() { Ok(expected) } else { Err(errors.iter().map(ToString::to_string).collect()) }
    }

    fn tat(answer: &'static str, scale: &'static str) -> Result<Expected, Vec<String>> {
        expected(UdaSubset::Tat, &[("answer", answer), ("answer_scale", scale), ("answer_type", "span")])
    }

    #[test]
    fn gold_of_tat_is_spans_with_a_scale() {
        let found = tat("['Mining', \"S&P's\"]", "").expect("gold");
        assert_eq!(found.answers, ["Mining, S&P's"]);
        assert_eq!(found.value, json!({"spans": ["Mining", "S&P's"], "scale": "", "type": "span"}));
        let answer = |answer, scale| tat(answer, scale).expect("gold").answers;
        assert_eq!(answer("['88']", "thousand"), ["88 thousand"]);
        assert_eq!(answer("['10.84']", "percent"), ["10.84%"]);
        assert_eq!(answer("['10.84%']", "percent"), ["10.84%"]);
        assert_eq!(answer("['1', '2']", "percent"), ["1, 2 percent"]);
        assert_eq!(answer("['1', ' ']", ""), ["1"]);
        assert_eq!(tat("[' ']", "million"), Ok(Expected::default()));
        assert_eq!(tat("'88'", "").unwrap_err(), ["f:7: `answer` is no list: expected `[` at its character 1"]);
        assert_eq!(
            tat("['88']", "trillion").unwrap_err(),
            [
                "f:7: `answer_scale` is \"trillion\"; expected nothing, or one of hundred, thousand, million, billion, percent"
            ]
        );
    }

    #[test]
    fn other_gold_is_the_answers_that_are_not_blank() {
        let nq = expected(UdaSubset::Nq, &[("long_answer", "L"), ("short_answer", "")]).expect("gold");
        assert_eq!(nq.answers, ["L"]);
        let paper = [("answer_1", "a"), ("answer_2", "b"), ("answer_3", "a")];
        assert_eq!(expected(UdaSubset::PaperTab, &paper).expect("gold").answers, ["a", "b"]);
        assert_eq!(expected(UdaSubset::Feta, &[("answer", "A.")]).expect("gold").answers, ["A."]);
        let fin = expected(UdaSubset::Fin, &[("answer_1", ""), ("answer_2", "3.8")]).expect("gold");
        assert_eq!((fin.answers, fin.value), (vec!["3.8".to_string()], Value::Null));
    }
}
