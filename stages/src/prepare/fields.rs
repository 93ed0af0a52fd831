//! Fields of a row, checked.

use std::path::Path;

use serde_json::{Number, Value};

use super::keys::{Keys, other_names};
use super::rows::Row;
use crate::artifact::Json;
use crate::error::{InputError, Place};
use crate::python::strip;

/// The fields of a JSON object in a row. What is wrong with one is added to a list of errors, so that a reader goes on and
/// finds the next. A field that is null counts as absent: the reference system reads it as the four letters `None`
/// (spec/heta 9, bug 22). Keys that nobody asks for are ignored, but for those that [`Fields::checked`] refuses.
pub(super) struct Fields<'a> {
    path: &'a Path,
    line: u64,
    /// What stands before a key in messages: nothing, or `expected.`, or `expected.evidence[2].`.
    within: String,
    object: &'a Json,
    /// The keys that it was held against.
    keys: Option<&'static Keys>,
}

impl<'a> Fields<'a> {
    /// The fields of `row` of the file `path`.
    pub(super) fn of(path: &'a Path, row: &'a Row) -> Self {
        Fields { path, line: row.line, within: String::new(), object: &row.object, keys: None }
    }

    /// The fields of `row` of the file `path`, which people find as `name`.
    pub(super) fn named(path: &'a Path, row: &'a Row, name: &str) -> Self {
        Fields { within: format!("{name}."), ..Fields::of(path, row) }
    }

    /// The same fields, once every key that is a mistake has been added to `errors`.
    pub(super) fn checked(mut self, keys: &'static Keys, errors: &mut Vec<InputError>) -> Self {
        for key in self.object.keys() {
            if let Some(advice) = keys.advice(key) {
                errors.push(self.error(format!("unknown key `{}`", self.name(key))).hint(advice));
            }
        }
        self.keys = Some(keys);
        self
    }

    /// Whether `key` is there under a name that was refused as a slip of the pen: then its absence has been told.
    pub(super) fn is_misspelt(&self, key: &str) -> bool {
        self.keys.is_some_and(|keys| self.object.keys().any(|other| keys.meant(other) == Some(key)))
    }

    /// The row's place.
    pub(super) fn place(&self) -> Place {
        Place::line(self.path, self.line)
    }

    /// An error of this row.
    pub(super) fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(self.place(), message)
    }

    /// The object's keys, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.object.keys().map(String::as_str)
    }

    /// The full name of `key`.
    pub(super) fn name(&self, key: &str) -> String {
        format!("{}{key}", self.within)
    }

    /// The value of `key`, where it is neither absent nor null.
    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Whether `key` is there with the value null.
    pub(super) fn is_null(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_null)
    }

    /// The text of `key` as it is written, blank or not; `None` where it is absent or no text.
    pub(super) fn verbatim(&self, key: &str, errors: &mut Vec<InputError>) -> Option<String> {
        let value = self.value(key)?;
        let text = text_of(value);
        if text.is_none() {
            errors.push(self.no_text(&self.name(key), value));
        }
        text
    }

    /// The text of `key`, stripped; `None` where it is absent or wrong. A blank text is an error.
    pub(super) fn optional_text(&self, key: &str, errors: &mut Vec<InputError>) -> Option<String> {
        let text = self.verbatim(key, errors)?;
        let text = strip(&text);
        if text.is_empty() {
            errors.push(self.error(format!("`{}` is blank", self.name(key))));
            return None;
        }
        Some(text.to_string())
    }

    /// The text of `key`, stripped; absent or blank is an error.
    pub(super) fn text(&self, key: &str, errors: &mut Vec<InputError>) -> Option<String> {
        if self.value(key).is_none() {
            if self.is_misspelt(key) {
                return None;
            }
            let found = if self.is_null(key) { "is null" } else { "is missing" };
            let error = self.error(format!("`{}` {found}; expected a text", self.name(key)));
            errors.push(match (self.alike(key), self.other_name(key)) {
                (Some(other), _) => error.hint(format!("there is a key `{other}`; keys are case-sensitive")),
                (None, Some(other)) => error.hint(format!("there is a key `{other}`; call it `{key}`")),
                (None, None) => error,
            });
            return None;
        }
        self.optional_text(key, errors)
    }

    /// A key that differs from `key` in case, blanks or a dash only.
    fn alike(&self, key: &str) -> Option<&'a str> {
        let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '_'], "");
        self.object.keys().map(String::as_str).find(|other| *other != key && plain(other) == plain(key))
    }

    /// A key that other formats use for `key`.
    fn other_name(&self, key: &str) -> Option<&'static str> {
        other_names(key).iter().copied().find(|other| self.value(other).is_some())
    }

    /// The object of `key`; empty where it is absent or wrong.
    pub(super) fn object(&self, key: &str, errors: &mut Vec<InputError>) -> Json {
        self.nested(key, errors).map(|fields| fields.object.clone()).unwrap_or_default()
    }

    /// The fields of the object of `key`; `None` where it is absent or wrong.
    pub(super) fn nested(&self, key: &str, errors: &mut Vec<InputError>) -> Option<Fields<'a>> {
        self.as_fields(self.name(key), self.value(key)?, errors)
    }

    /// The fields of the object of `key`; absent or wrong is an error.
    pub(super) fn needed(&self, key: &str, errors: &mut Vec<InputError>) -> Option<Fields<'a>> {
        if self.value(key).is_none() {
            let found = if self.is_null(key) { "is null" } else { "is missing" };
            errors.push(self.error(format!("`{}` {found}; expected an object", self.name(key))));
        }
        self.nested(key, errors)
    }

    /// The items of the list of `key` with the name of each; none where it is absent or wrong. Null is an error: a list
    /// that is not there is left out or written as `[]`.
    pub(super) fn list(&self, key: &str, errors: &mut Vec<InputError>) -> Vec<(String, &'a Value)> {
        let name = self.name(key);
        match self.object.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().enumerate().map(|(i, item)| (format!("{name}[{i}]"), item)).collect()
            }
            Some(value) => {
                let error = self.error(format!("`{name}` is {}; expected a list", describe(value)));
                errors.push(match value {
                    Value::Null => error.hint("leave the key out, or write []"),
                    value => error.hint(format!("write [{}]", shortened(&value.to_string()))),
                });
                Vec::new()
            }
        }
    }

    /// As [`Fields::list`]; absent or null is an error too.
    pub(super) fn needed_list(&self, key: &str, errors: &mut Vec<InputError>) -> Vec<(String, &'a Value)> {
        if self.value(key).is_some() {
            return self.list(key, errors);
        }
        let found = if self.is_null(key) { "is null" } else { "is missing" };
        errors.push(self.error(format!("`{}` {found}; expected a list", self.name(key))));
        Vec::new()
    }

    /// The items of the list of `key` as texts, stripped.
    pub(super) fn texts(&self, key: &str, errors: &mut Vec<InputError>) -> Vec<String> {
        self.list(key, errors).into_iter().filter_map(|(name, item)| self.item(&name, item, errors)).collect()
    }

    /// The text of the list item `name`, stripped; null and blank are errors.
    pub(super) fn item(&self, name: &str, item: &Value, errors: &mut Vec<InputError>) -> Option<String> {
        match text_of(item) {
            None => errors.push(self.no_text(name, item)),
            Some(text) if strip(&text).is_empty() => errors.push(self.error(format!("`{name}` is blank"))),
            Some(text) => return Some(strip(&text).to_string()),
        }
        None
    }

    /// The fields of the value called `name`; an error where it is no object.
    pub(super) fn as_fields(&self, name: String, value: &'a Value, errors: &mut Vec<InputError>) -> Option<Fields<'a>> {
        match value {
            Value::Object(object) => {
                Some(Fields { path: self.path, line: self.line, within: format!("{name}."), object, keys: None })
            }
            value => {
                errors.push(self.error(format!("`{name}` is {}; expected an object", describe(value))));
                None
            }
        }
    }

    fn no_text(&self, name: &str, value: &Value) -> InputError {
        let error = self.error(format!("`{name}` is {}; expected a text", describe(value)));
        match value {
            Value::Number(_) => error.hint("the number is too large to be kept exactly; put it in quotes"),
            Value::Bool(value) => error.hint(format!("write \"{value}\" where the text is meant")),
            _ => error,
        }
    }
}

/// The text that `value` stands for: itself, or a number in JSON's form (ids are often written as numbers).
///
/// A number beyond 2^53 that is no 64-bit integer is refused: it was rounded when it was read, and two ids could become one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number_text(number),
        _ => None,
    }
}

/// The JSON form of a number that was read exactly.
pub(super) fn number_text(number: &Number) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = number.is_i64() || number.is_u64();
    (whole || number.as_f64().is_some_and(|value| value.abs() < EXACT)).then(|| number.to_string())
}

/// `value` in words, for messages.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", shortened(&format!("{text:?}"))),
        Value::Array(_) => "a list".to_string(),
        Value::Object(_) => "an object".to_string(),
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or(text)),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Row {
        Row { line: 7, object: value.as_object().unwrap().clone() }
    }

    fn messages(errors: &[InputError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_stand_for_their_text_and_null_for_absence() {
        let row = row(json!({"a": 42, "b": 3.5, "c": null, "d": " x ", "e": 7.0}));
        let fields = Fields::of(Path::new("f"), &row);
        let mut errors = Vec::new();
        let mut text = |key| fields.optional_text(key, &mut errors);
        assert_eq!(text("a").as_deref(), Some("42"));
        assert_eq!(text("b").as_deref(), Some("3.5"));
        assert_eq!(text("c"), None);
        assert_eq!(text("d").as_deref(), Some("x"));
        assert_eq!(text("e").as_deref(), Some("7.0"));
        assert!(errors.is_empty());
    }

    #[test]
    fn an_id_that_was_rounded_is_refused() {
        let object = serde_json::from_str(r#"{"a": 12345678901234567890123, "b": 18446744073709551615}"#).unwrap();
        let row = Row { line: 7, object };
        let fields = Fields::of(Path::new("f"), &row);
        let mut errors = Vec::new();
        assert_eq!(fields.text("a", &mut errors), None);
        assert_eq!(fields.text("b", &mut errors).as_deref(), Some("18446744073709551615"));
        assert_eq!(errors.len(), 1);
    }

    #[test]
    fn every_fault_says_what_was_expected_and_found() {
        let row = row(json!({"Query": "q", "n": null, "t": true, "l": "abc", "m": [1], "b": "  ", "x": null}));
        let fields = Fields::of(Path::new("f"), &row);
        let mut errors = Vec::new();
        fields.text("query", &mut errors);
        fields.text("n", &mut errors);
        fields.text("t", &mut errors);
        fields.list("l", &mut errors);
        fields.object("m", &mut errors);
        fields.text("b", &mut errors);
        fields.list("x", &mut errors);
        assert_eq!(
            messages(&errors),
            [
                "f:7: `query` is missing; expected a text",
                "f:7: `n` is null; expected a text",
                "f:7: `t` is true; expected a text",
                "f:7: `l` is the text \"abc\"; expected a list",
                "f:7: `m` is a list; expected an object",
                "f:7: `b` is blank",
                "f:7: `x` is null; expected a list",
            ]
        );
        assert_eq!(errors[0].hint.as_deref(), Some("there is a key `Query`; keys are case-sensitive"));
        assert_eq!(errors[3].hint.as_deref(), Some("write [\"abc\"]"));
    }

    #[test]
    fn nested_keys_have_full_names() {
        let row = row(json!({"expected": {"evidence": [{"text": 1}, "e"]}}));
        let fields = Fields::of(Path::new("f"), &row);
        let mut errors = Vec::new();
        let expected = fields.nested("expected", &mut errors).unwrap();
        let items = expected.list("evidence", &mut errors);
        for (name, item) in items {
            expected.as_fields(name, item, &mut errors);
        }
        assert_eq!(messages(&errors), ["f:7: `expected.evidence[1]` is the text \"e\"; expected an object"]);
    }
}
