//! The text form of an evaluator: `nDCG@10`, `P(rel=2)@5`, `nDCG(gain=exp, variant=heta)@10`.
//!
//! ```text
//! evaluator = name [ "(" [ option { "," option } ] ")" ] [ "@" cutoff ]
//! option    = key "=" value
//! value     = bare word | number | true | false | null | JSON string, list or object
//! cutoff    = whole number from 1
//! ```
//!
//! It is the grammar of ir-measures, with JSON for values that are no word. The printed form is canonical: options sorted
//! by name, no spaces.

use std::fmt;
use std::str::FromStr;

use serde_json::{Number, Value};

use super::spec::EvaluatorSpec;
use crate::artifact::Json;

/// A text that is no evaluator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at column {column} of {text:?}")]
pub struct GrammarError {
    /// The whole text.
    pub text: String,
    /// Where, in characters from 1; one past the end where something is missing.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

impl EvaluatorSpec {
    /// Reads the text form.
    ///
    /// # Errors
    /// When the text does not follow the grammar, with the place where it stops doing so.
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        let mut reader = Reader { text, at: 0 };
        reader.skip_space();
        let name = reader.word("the name of an evaluator")?.to_string();
        let options = if reader.take('(') { reader.options()? } else { Json::new() };
        let cutoff = if reader.take('@') { Some(reader.cutoff()?) } else { None };
        reader.skip_space();
        match reader.peek() {
            None => Ok(EvaluatorSpec { name, cutoff, options }),
            Some('(') if cutoff.is_some() => Err(reader.error("options go before the cut-off, as in P(rel=2)@5")),
            Some(other) if cutoff.is_some() => Err(reader.error(format!("expected the end, found {other:?}"))),
            Some(other) => Err(reader.error(format!("expected \"(\", \"@\" or the end, found {other:?}"))),
        }
    }
}

impl FromStr for EvaluatorSpec {
    type Err = GrammarError;

    fn from_str(text: &str) -> Result<Self, GrammarError> {
        EvaluatorSpec::parse(text)
    }
}

impl fmt::Display for EvaluatorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let mut options: Vec<_> = self.options.iter().collect();
        options.sort_by(|a, b| a.0.cmp(b.0));
        for (i, (key, value)) in options.iter().enumerate() {
            write!(f, "{}{key}=", if i == 0 { '(' } else { ',' })?;
            match value {
                Value::String(word) if is_bare(word) => f.write_str(word)?,
                other => write!(f, "{other}")?,
            }
        }
        if !options.is_empty() {
            f.write_str(")")?;
        }
        match self.cutoff {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')
}

/// Whether a text read back as a bare value is that text again.
fn is_bare(word: &str) -> bool {
    !word.is_empty() && word.chars().all(is_word_char) && matches!(bare_value(word), Value::String(_))
}

/// What a bare word stands for.
fn bare_value(word: &str) -> Value {
    match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => {
            serde_json::from_str::<Number>(word).map(Value::Number).unwrap_or_else(|_| Value::String(word.to_string()))
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Byte offset; always at a character's start.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Skips spaces and then `expected`, where it comes next.
    fn take(&mut self, expected: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    fn error(&self, message: impl Into<String>) -> GrammarError {
        let column = self.text.get(..self.at).unwrap_or_default().chars().count() + 1;
        GrammarError { text: self.text.to_string(), column, message: message.into() }
    }

    fn expected(&self, what: &str) -> GrammarError {
        match self.peek() {
            Some(found) => self.error(format!("expected {what}, found {found:?}")),
            None => self.error(format!("expected {what}, found the end")),
        }
    }

    fn run(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn word(&mut self, what: &str) -> Result<&'a str, GrammarError> {
        if !self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            return Err(self.expected(what));
        }
        Ok(self.run(is_word_char))
    }

    fn options(&mut self) -> Result<Json, GrammarError> {
        let mut options = Json::new();
        if self.take(')') {
            return Ok(options);
        }
        loop {
            self.skip_space();
            let start = self.at;
            let key = self.word("the name of an option")?;
            if options.contains_key(key) {
                self.at = start;
                return Err(self.error(format!("option {key} is given twice")));
            }
            if !self.take('=') {
                return Err(self.expected("\"=\""));
            }
            self.skip_space();
            options.insert(key.to_string(), self.value()?);
            if self.take(')') {
                return Ok(options);
            }
            if !self.take(',') {
                return Err(self.expected("\",\" or \")\""));
            }
        }
    }

    fn value(&mut self) -> Result<Value, GrammarError> {
        match self.peek() {
            Some('"' | '[' | '{') => {
                let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
                match values.next() {
                    Some(Ok(value)) => {
                        self.at += values.byte_offset();
                        Ok(value)
                    }
                    Some(Err(error)) => Err(self.error(format!("expected a JSON value: {error}"))),
                    None => Err(self.expected("a value")),
                }
            }
            Some(c) if is_word_char(c) => Ok(bare_value(self.run(is_word_char))),
            _ => Err(self.expected("a value")),
        }
    }

    fn cutoff(&mut self) -> Result<u32, GrammarError> {
        self.skip_space();
        let start = self.at;
        let digits = self.run(|c| c.is_ascii_digit());
        match digits.parse::<u32>() {
            Ok(cutoff) if cutoff > 0 => Ok(cutoff),
            _ if digits.is_empty() => Err(self.expected("a cut-off (a whole number from 1)")),
            _ => {
                self.at = start;
                Err(self.error(format!("expected a cut-off from 1 to {}, found {digits}", u32::MAX)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> EvaluatorSpec {
        EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_forms_of_the_grammar() {
        let spec = parse("nDCG@10");
        assert_eq!((spec.name.as_str(), spec.cutoff, spec.options.len()), ("nDCG", Some(10), 0));
        let spec = parse(" P( rel = 2 )@5 ");
        assert_eq!((spec.name.as_str(), spec.cutoff), ("P", Some(5)));
        assert_eq!(spec.options.get("rel"), Some(&Value::from(2)));
        assert_eq!(parse("AP").cutoff, None);
        assert_eq!(parse("AP()"), parse("AP"));
        let spec = parse("judge(model=\"a, (b)\", votes=[1,2], strict=true, weight=0.5)");
        assert_eq!(spec.options.get("model"), Some(&Value::from("a, (b)")));
        assert_eq!(spec.options.get("votes"), Some(&serde_json::json!([1, 2])));
        assert_eq!(spec.options.get("strict"), Some(&Value::Bool(true)));
        assert_eq!(spec.options.get("weight"), Some(&Value::from(0.5)));
    }

    #[test]
    fn printing_sorts_options_and_drops_spaces() {
        assert_eq!(parse("nDCG( variant = heta , gain=exp ) @ 10").to_string(), "nDCG(gain=exp,variant=heta)@10");
        assert_eq!(parse("x(a=\"2\",b=\"two words\")").to_string(), "x(a=\"2\",b=\"two words\")");
    }

    #[test]
    fn errors_say_where_and_what() {
        let cases = [
            ("", 1, "expected the name of an evaluator, found the end"),
            ("@10", 1, "expected the name of an evaluator, found '@'"),
            ("nDCG@", 6, "expected a cut-off (a whole number from 1), found the end"),
            ("nDCG@0", 6, "expected a cut-off from 1 to 4294967295, found 0"),
            ("nDCG@-1", 6, "expected a cut-off (a whole number from 1), found '-'"),
            ("nDCG@5.5", 7, "expected the end, found '.'"),
            ("nDCG@4294967296", 6, "expected a cut-off from 1 to 4294967295, found 4294967296"),
            ("P(rel=2", 8, "expected \",\" or \")\", found the end"),
            ("P(rel)@5", 6, "expected \"=\", found ')'"),
            ("P(rel=)@5", 7, "expected a value, found ')'"),
            ("P(rel=1,rel=2)@5", 9, "option rel is given twice"),
            ("P@5(rel=2)", 4, "options go before the cut-off, as in P(rel=2)@5"),
            ("nDCG 10", 6, "expected \"(\", \"@\" or the end, found '1'"),
        ];
        for (text, column, message) in cases {
            let error = EvaluatorSpec::parse(text).expect_err(text);
            assert_eq!((error.column, error.message.as_str()), (column, message), "{text}");
        }
        let error = EvaluatorSpec::parse("P(é=1)").expect_err("no word");
        assert_eq!(error.to_string(), "expected the name of an option, found 'é' at column 3 of \"P(é=1)\"");
    }

    #[test]
    fn the_map_form_needs_only_a_name() {
        let spec: EvaluatorSpec = serde_json::from_str(r#"{"name": "token_f1"}"#).expect("a spec");
        assert_eq!(spec, parse("token_f1"));
        assert!(serde_json::from_str::<EvaluatorSpec>(r#"{"name": "P", "cutof": 5}"#).is_err());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::String),
        ];
        leaf.prop_recursive(2, 8, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("\\PC{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(
            name in "[A-Za-z][A-Za-z0-9_]{0,8}",
            cutoff in prop::option::of(1u32..),
            options in prop::collection::btree_map("[a-z][a-z_]{0,6}", value(), 0..4),
        ) {
            let spec = EvaluatorSpec { name, cutoff, options: options.into_iter().collect() };
            prop_assert_eq!(EvaluatorSpec::parse(&spec.to_string()), Ok(spec));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,24}") {
            let _ = EvaluatorSpec::parse(&text);
        }
    }
}
