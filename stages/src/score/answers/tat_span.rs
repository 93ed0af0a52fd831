//! Spans as TAT-QA's script, and UDA-Benchmark's after it, compares them (`tat_eval.py`).

use serde_json::Value;

use super::tat_number::{is_number, rounded, scale_of, to_number};
use super::uda_tail::tail;
use crate::artifact::Gold;
use crate::python::{is_whitespace, strip, text_list};
use crate::score::definition::{Parameter, ParameterKind};
use crate::score::plain_text::plain_text;

/// `spans`: what is compared with what.
pub(super) const SPANS: Parameter = Parameter {
    name: "spans",
    description: "joined: the gold spans as one text against the answer, as the script has it; aligned: the answer's parts and \
                  the gold spans, each with the one that it goes with best",
    kind: ParameterKind::Choice(&["joined", "aligned"]),
};

/// A span in each of the forms in which it may be meant, as words in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) forms: Vec<Vec<String>>,
}

impl Span {
    fn of(text: &str) -> Self {
        Span { forms: vec![words(text)] }
    }

    /// A part of an answer: with numbers to two decimals, and to four where there is no percent sign. So a share of 0.2342 is
    /// 23.42 percent, too.
    fn of_answer(text: &str) -> Self {
        let mut forms = vec![words(&stated(text, ""))];
        if !text.contains('%')
            && is_number(text)
            && let Some(number) = to_number(text)
        {
            forms.push(vec![number_word(number)]);
        }
        forms.dedup();
        Span { forms }
    }

    /// Whether the two have a form in common.
    pub(super) fn is(&self, other: &Span) -> bool {
        self.forms.iter().any(|form| other.forms.contains(form))
    }
}

/// The spans that are compared: of gold one list for each way to be right, and those of the answer.
pub(super) struct Spans {
    pub(super) gold: Vec<Vec<Span>>,
    pub(super) answer: Vec<Span>,
}

impl Spans {
    /// Those of an answer and of what is expected: the typed value `{"spans": [...], "scale": "..."}`, or else each gold answer as
    /// one span. `None` where nothing is expected.
    pub(super) fn of(gold: &Gold, answer: &str, aligned: bool) -> Option<Self> {
        let expected: Vec<(Vec<&str>, &str)> = match typed(&gold.value) {
            Some(typed) => vec![typed],
            None => gold.answers.iter().map(|answer| (vec![answer.as_str()], "")).collect(),
        };
        if expected.is_empty() {
            return None;
        }
        let gold = expected.into_iter().map(|(mut spans, scale)| {
            spans.sort_unstable();
            let stated: Vec<String> = spans.iter().map(|span| stated(span, scale)).collect();
            if aligned { stated.iter().map(|span| Span::of(span)).collect() } else { vec![Span::of(&stated.join(" "))] }
        });
        let gold = gold.collect();
        let answer = tail(answer);
        // One point, and that before anything is stripped, as the script has it.
        let answer = answer.strip_suffix('.').unwrap_or(answer);
        let parts =
            if aligned { parts(answer) } else { Vec::from_iter((!answer.is_empty()).then(|| answer.to_string())) };
        Some(Spans { gold, answer: parts.iter().map(|part| Span::of_answer(part)).collect() })
    }
}

/// The spans and the scale of a typed gold value.
fn typed(value: &Value) -> Option<(Vec<&str>, &str)> {
    let spans: Vec<&str> = value.get("spans")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    let scale = value.get("scale").and_then(Value::as_str).unwrap_or_default();
    (!spans.is_empty()).then_some((spans, scale))
}

/// The parts of an answer that lists several things: the items of a list in brackets, or what line breaks, semicolons, and commas
/// with white space behind part.
fn parts(answer: &str) -> Vec<String> {
    if let Ok(items) = text_list(answer) {
        return items;
    }
    let mut parts = vec![String::new()];
    let mut chars = answer.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ',' if !chars.peek().is_some_and(|next| is_whitespace(*next)) => {}
            '\n' | ';' | ',' => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.into_iter().map(|part| strip(&part).to_string()).filter(|part| !part.is_empty()).collect()
}

/// `span` with its scale: a number is multiplied, a text is followed by it. A number with a percent sign has no other scale.
fn stated(span: &str, scale: &str) -> String {
    match to_number(span).filter(|_| is_number(span)) {
        Some(number) if span.contains('%') => number_word(number),
        Some(number) => number_word(rounded(number, 2) * scale_of(scale)),
        None if scale.is_empty() => span.to_string(),
        None => format!("{span} {scale}"),
    }
}

/// The words of `text`: in lower case, numbers as numbers, others without punctuation, a, an and the.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for token in text.split(is_whitespace).filter(|token| !token.is_empty()) {
        if let Some(number) = to_number(token).filter(|_| is_number(token)) {
            words.push(number_word(number));
            continue;
        }
        let plain = plain_text(token, &["a", "an", "the"]);
        match to_number(&plain).filter(|_| is_number(&plain)) {
            Some(number) => words.push(number_word(number)),
            None => words.extend(plain.split(' ').filter(|word| !word.is_empty()).map(str::to_string)),
        }
    }
    words
}

/// A number to four decimals as a word: 88.0 and 88 are one. The script tells them apart where gold is whole and the answer is not.
fn number_word(number: f64) -> String {
    rounded(number, 4).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_in_normal_form() {
        assert_eq!(words("The Mining (coal), at $1,234.50 in 2019."), ["mining", "coal", "at", "1234.5", "in", "2019"]);
        assert_eq!(words("#12 S&P's -"), ["12", "sps"]);
        assert_eq!(words(" a the\n"), Vec::<String>::new());
    }

    #[test]
    fn a_scale_multiplies_numbers_and_follows_texts() {
        assert_eq!(stated("88", "thousand"), "88000");
        assert_eq!(stated("10.84", "percent"), "0.1084");
        assert_eq!(stated("12.5%", "percent"), "0.125");
        assert_eq!(stated("$ 93,662", "thousand"), "93662000");
        assert_eq!(stated("1.005", "million"), "1000000", "two decimals count");
        assert_eq!(stated("none", "million"), "none million");
        assert_eq!(stated("Mining", ""), "Mining");
    }

    #[test]
    fn gold_is_typed_or_each_answer_is_one_span() {
        let typed = Gold { value: json!({"spans": ["Rail", "Mining"], "scale": ""}), ..Gold::default() };
        let joined = Spans::of(&typed, "The answer is: x.", false).expect("gold");
        assert_eq!(joined.gold, [vec![Span { forms: vec![vec!["mining".to_string(), "rail".to_string()]] }]]);
        assert_eq!(joined.answer, [Span { forms: vec![vec!["x".to_string()]] }]);
        assert_eq!(Spans::of(&typed, "", true).expect("gold").gold[0].len(), 2);
        let plain = Gold { answers: vec!["a b".to_string(), "c".to_string()], ..Gold::default() };
        assert_eq!(Spans::of(&plain, "", false).expect("gold").gold.len(), 2);
        assert!(Spans::of(&plain, "", false).expect("gold").answer.is_empty());
        for none in [json!(null), json!({"spans": []}), json!({"spans": [1]}), json!("x")] {
            assert!(Spans::of(&Gold { value: none, ..Gold::default() }, "x", false).is_none());
        }
    }

    #[test]
    fn answers_are_parted_at_marks() {
        assert_eq!(parts(" Mining, Rail;1,234\nSea "), ["Mining", "Rail", "1,234", "Sea"]);
        assert_eq!(parts("['a, b', 'c']"), ["a, b", "c"]);
        assert_eq!(parts(" ;, "), Vec::<String>::new());
    }
}
