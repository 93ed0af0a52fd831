//! Whether a reply is exactly what its schema asks for.

use serde_json::Value;

use crate::model::json_reply::shortened;

/// How much of a value a message shows, in Unicode code points.
const SHOWN_CHARS: usize = 80;

/// Holds `value` against `schema`, which uses no more of JSON Schema than requests of judges do: `type`, `enum`, `properties`
/// (all of them required, none beside them), `items`, `minItems`, `maxItems`, `minimum`, `maximum`. Servers that were asked
/// for structured output are held to it as well: some of them look away.
///
/// Nothing is converted: `"4"` is no number, `4.0` and `true` are no whole numbers.
///
/// # Errors
/// Where the first difference is, and what was expected there.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    check_at(schema, value, "")
}

fn check_at(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let place = if at.is_empty() { String::new() } else { format!(" at {at}") };
    let wrong = |expected: &str| {
        Err(format!("expected {expected}{place}, found {}", shortened(&value.to_string(), SHOWN_CHARS)))
    };
    if let Some(allowed) = schema["enum"].as_array() {
        let same = |word: &Value| word == value && word.is_i64() == value.is_i64();
        if !allowed.iter().any(same) {
            let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
            return wrong(&format!("one of {}", words.join(", ")));
        }
        return Ok(());
    }
    match schema["type"].as_str() {
        Some("object") => {
            let Some(object) = value.as_object() else { return wrong("a JSON object") };
            let empty = serde_json::Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&empty);
            if let Some(key) = object.keys().find(|key| !properties.contains_key(*key)) {
                return Err(format!("the key `{}`{place} was not asked for", key.chars().take(60).collect::<String>()));
            }
            for (key, schema) in properties {
                let Some(value) = object.get(key) else {
                    return Err(format!("the key `{key}` is missing{place}"));
                };
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                check_at(schema, value, &at)?;
            }
            Ok(())
        }
        Some("array") => {
            let Some(items) = value.as_array() else { return wrong("a list") };
            let bound = |name: &str| schema[name].as_u64();
            if bound("minItems").is_some_and(|least| (items.len() as u64) < least)
                || bound("maxItems").is_some_and(|most| items.len() as u64 > most)
            {
                let number = |bound: Option<u64>| bound.map_or("any".to_string(), |bound| bound.to_string());
                let (least, most) = (number(bound("minItems")), number(bound("maxItems")));
                return Err(format!("expected {least} to {most} items{place}, found {}", items.len()));
            }
            items.iter().enumerate().try_for_each(|(i, item)| check_at(&schema["items"], item, &format!("{at}[{i}]")))
        }
        Some("integer") => {
            let number = value.as_i64();
            let within = |number: i64| {
                schema["minimum"].as_i64().is_none_or(|least| number >= least)
                    && schema["maximum"].as_i64().is_none_or(|most| number <= most)
            };
            match number.filter(|number| within(*number)) {
                Some(_) => Ok(()),
                None => wrong(&format!("a whole number from {} to {}", schema["minimum"], schema["maximum"])),
            }
        }
        Some("boolean") if value.is_boolean() => Ok(()),
        Some("boolean") => wrong("true or false"),
        _ if value.is_string() => Ok(()),
        _ => wrong("a text"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_asked_for_fits() {
        let schema = json!({"type": "object", "properties": {
            "reasoning": {"type": "string"},
            "score": {"type": "integer", "minimum": 0, "maximum": 4},
            "sure": {"type": "boolean"},
            "points": {"type": "array", "items": {"enum": [0, 4, "x"]}, "minItems": 1, "maxItems": 2},
        }});
        let good = json!({"reasoning": "", "score": 4, "sure": false, "points": [0, "x"]});
        assert_eq!(check(&schema, &good), Ok(()));
        let with = |key: &str, value: Value| {
            let mut reply = good.clone();
            reply[key] = value;
            check(&schema, &reply).expect_err(key)
        };
        for (key, value, message) in [
            ("score", json!("4"), "expected a whole number from 0 to 4 at score, found \"4\""),
            ("score", json!(4.0), "expected a whole number from 0 to 4 at score, found 4.0"),
            ("score", json!(40), "expected a whole number from 0 to 4 at score, found 40"),
            ("score", json!(-1), "expected a whole number from 0 to 4 at score, found -1"),
            ("score", json!(true), "expected a whole number from 0 to 4 at score, found true"),
            ("score", json!(null), "expected a whole number from 0 to 4 at score, found null"),
            ("sure", json!("false"), "expected true or false at sure, found \"false\""),
            ("sure", json!(0), "expected true or false at sure, found 0"),
            ("reasoning", json!(["a"]), "expected a text at reasoning, found [\"a\"]"),
            ("points", json!([]), "expected 1 to 2 items at points, found 0"),
            ("points", json!([4, 3]), "expected one of 0, 4, \"x\" at points[1], found 3"),
            ("points", json!([4.0]), "expected one of 0, 4, \"x\" at points[0], found 4.0"),
            ("more", json!(1), "the key `more` was not asked for"),
        ] {
            assert_eq!(with(key, value), message);
        }
        assert_eq!(check(&schema, &json!({"reasoning": "x"})), Err("the key `points` is missing".to_string()));
        assert_eq!(check(&schema, &json!([1])), Err("expected a JSON object, found [1]".to_string()));
    }
}
