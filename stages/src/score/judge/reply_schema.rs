//! What a judge's reply must be: a part of JSON Schema that is small enough to be held to.
//!
//! Servers with structured output keep to a schema by themselves; others do not, and no server's word is taken for it. A keyword
//! that is not understood here is refused where the schema is read, so that nobody relies on a rule that nobody checks.

use serde_json::{Map, Value};

/// The keywords that are understood.
const KEYWORDS: [&str; 16] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "description",
    "title",
    "$schema",
    "const",
];
const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at {pointer}")]
pub struct SchemaFault {
    /// Where in the schema, as a JSON pointer; `/` for the whole.
    pub pointer: String,
    /// What is wrong, as a fragment.
    pub message: String,
}

/// Checks that `schema` uses what is understood here and nothing else.
pub(super) fn check_schema(schema: &Value, pointer: &str) -> Result<(), SchemaFault> {
    let fault = |message: String| {
        let pointer = if pointer.is_empty() { "/".to_string() } else { pointer.to_string() };
        SchemaFault { pointer, message }
    };
    let Some(object) = schema.as_object() else { return Err(fault(format!("expected a schema, found {schema}"))) };
    if let Some(unknown) = object.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        return Err(fault(format!("the keyword `{unknown}` is not understood; there are {}", KEYWORDS.join(", "))));
    }
    match object.get("type") {
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => {}
        None if object.contains_key("enum") || object.contains_key("const") => {}
        Some(other) => return Err(fault(format!("expected `type` to be one of {}, found {other}", TYPES.join(", ")))),
        None => return Err(fault("expected a `type`".to_string())),
    }
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_schema(property, &format!("{pointer}/properties/{name}"))?;
    }
    match object.get("items") {
        Some(items) => check_schema(items, &format!("{pointer}/items")),
        None => Ok(()),
    }
}

/// What of `value` does not obey `schema`, which [`check_schema`] accepts.
///
/// # Errors
/// The first thing that was expected and not found, with its place.
pub(super) fn obey(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    let at = || if place.is_empty() { String::new() } else { format!(" at {place}") };
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !is_of(kind, value)
    {
        return Err(format!("expected {}{}, found {}", article(kind), at(), brief(value)));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return Err(format!("expected one of {}{}, found {}", words.join(", "), at(), brief(value)));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        return Err(format!("expected {only}{}, found {}", at(), brief(value)));
    }
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        let low = bound("minimum").filter(|low| number < *low).map(|low| format!("at least {low}"));
        let high = bound("maximum").filter(|high| number > *high).map(|high| format!("at most {high}"));
        if let Some(wanted) = low.or(high) {
            return Err(format!("expected a number of {wanted}{}, found {value}", at()));
        }
    }
    if let Some(text) = value.as_str() {
        within(text.chars().count(), bound("minLength"), bound("maxLength"), "characters", &at())?;
    }
    if let Some(items) = value.as_array() {
        within(items.len(), bound("minItems"), bound("maxItems"), "items", &at())?;
        if let Some(schema) = schema.get("items") {
            for (i, item) in items.iter().enumerate() {
                obey(schema, item, &format!("{place}[{i}]"))?;
            }
        }
    }
    match value.as_object() {
        Some(object) => obey_properties(schema, object, place),
        None => Ok(()),
    }
}

fn obey_properties(schema: &Map<String, Value>, object: &Map<String, Value>, place: &str) -> Result<(), String> {
    let under = |name: &str| if place.is_empty() { name.to_string() } else { format!("{place}.{name}") };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            return Err(format!("expected `{}`, which is missing", under(name)));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in object {
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => obey(schema, value, &under(name))?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                return Err(format!("expected no `{}`", under(name)));
            }
            None => {}
        }
    }
    Ok(())
}

fn within(found: usize, least: Option<f64>, most: Option<f64>, what: &str, at: &str) -> Result<(), String> {
    let count = found as f64;
    match (least.filter(|least| count < *least), most.filter(|most| count > *most)) {
        (Some(least), _) => Err(format!("expected at least {least} {what}{at}, found {found}")),
        (_, Some(most)) => Err(format!("expected at most {most} {what}{at}, found {found}")),
        _ => Ok(()),
    }
}

/// As JSON Schema has it: 4.0 is an integer, and neither a text nor a truth value is a number.
fn is_of(kind: &str, value: &Value) -> bool {
    match (kind, value) {
        ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

fn article(kind: &str) -> String {
    match kind {
        "object" | "array" | "integer" => format!("an {kind}"),
        "null" => "null".to_string(),
        kind => format!("a {kind}"),
    }
}

fn brief(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn replies_are_held_to_the_schema() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["score", "why"], "properties": {
            "score": {"type": "integer", "minimum": 0, "maximum": 4}, "why": {"type": "string", "maxLength": 5},
            "tags": {"type": "array", "maxItems": 1, "items": {"enum": ["a", "b"]}}, "ok": {"type": "boolean"}}});
        assert_eq!(check_schema(&schema, ""), Ok(()));
        let found = |value: Value| obey(&schema, &value, "").err().unwrap_or_default();
        assert_eq!(found(json!({"score": 4, "why": "x"})), "");
        assert_eq!(found(json!({"score": 4.0, "why": "x", "tags": ["b"], "ok": false})), "");
        for (value, expected) in [
            (json!([1]), "expected an object, found [1]"),
            (json!({"score": 4}), "expected `why`, which is missing"),
            (json!({"score": "4", "why": ""}), "expected an integer at score, found \"4\""),
            (json!({"score": true, "why": ""}), "expected an integer at score, found true"),
            (json!({"score": 4.5, "why": ""}), "expected an integer at score, found 4.5"),
            (json!({"score": 40, "why": ""}), "expected a number of at most 4 at score, found 40"),
            (json!({"score": -1, "why": ""}), "expected a number of at least 0 at score, found -1"),
            (json!({"score": 1, "why": "too long"}), "expected at most 5 characters at why, found 8"),
            (json!({"score": 1, "why": "", "tags": ["c"]}), "expected one of \"a\", \"b\" at tags[0], found \"c\""),
            (json!({"score": 1, "why": "", "tags": ["a", "b"]}), "expected at most 1 items at tags, found 2"),
            (json!({"score": 1, "why": "", "ok": "false"}), "expected a boolean at ok, found \"false\""),
            (json!({"score": 1, "why": "", "more": 1}), "expected no `more`"),
        ] {
            assert_eq!(found(value), expected);
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let message = |schema: Value| check_schema(&schema, "").expect_err("a fault").to_string();
        let pattern = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}});
        assert!(message(pattern).ends_with(" at /properties/a"));
        assert!(message(json!({"type": "float"})).starts_with("expected `type` to be one of object, "));
        assert_eq!(message(json!([])), "expected a schema, found [] at /");
        assert_eq!(message(json!({})), "expected a `type` at /");
    }
}
