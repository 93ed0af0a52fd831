//! The text form of a JSON value as Python's `str` writes it (spec/heta 11): what Heta Evaluation compares ids by.

use serde_json::Value;

/// `None`, `True`, floats with `.0`, lists as `['a', 1]`; a text is itself.
pub(crate) fn python_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => representation(other),
    }
}

/// Python's `repr`.
fn representation(value: &Value) -> String {
    match value {
        Value::Null => "None".to_string(),
        Value::Bool(true) => "True".to_string(),
        Value::Bool(false) => "False".to_string(),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or(f64::NAN)),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(representation).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", quoted(key), representation(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// The shortest digits that read back as the same number, with an exponent below 1e-4 and from 1e16.
fn float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_string();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = value.to_string();
        if plain.contains('.') { plain } else { format!("{plain}.0") }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    }
}

fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn as_python_writes_them() {
        let cases = [
            (json!(null), "None"),
            (json!(true), "True"),
            (json!(7), "7"),
            (json!(7.0), "7.0"),
            (json!(-0.5), "-0.5"),
            (json!(1e16), "1e+16"),
            (json!(1.5e-5), "1.5e-05"),
            (json!(0.0001), "0.0001"),
            (json!(123456789012345.0), "123456789012345.0"),
            (json!("a'b"), "a'b"),
            (json!(["a", 1, null]), "['a', 1, None]"),
            (json!(["it's", "a\nb"]), "[\"it's\", 'a\\nb']"),
            (json!({"a": [true]}), "{'a': [True]}"),
        ];
        for (value, text) in cases {
            assert_eq!(python_text(&value), text);
        }
    }
}
