//! Plain scalars by the core schema of YAML 1.2 (section 10.3.2): `yes` is a text, `0o17` a number.

use super::node::{Text, Value};

/// A plain scalar by the core schema.
pub(super) fn resolve(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY, text),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY, text),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN, text),
        _ => {}
    }
    if let Some(value) = whole_number(&text) {
        return Value::Int(value, text);
    }
    if is_float(&text)
        && let Ok(value) = text.parse()
    {
        return Value::Float(value, text);
    }
    Value::Text(Text { text, quoted: false })
}

fn whole_number(text: &str) -> Option<i128> {
    let digits = |digits: &str, radix: u32| {
        let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        if all { i128::from_str_radix(digits, radix).ok() } else { None }
    };
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    match text.strip_prefix('-') {
        Some(rest) => digits(rest, 10).map(|value| -value),
        None => digits(text.strip_prefix('+').unwrap_or(text), 10),
    }
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_resolve_by_the_core_schema() {
        for (source, expected) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("True", Value::Bool(true)),
            ("-12", Value::Int(-12, "-12".to_string())),
            ("+7", Value::Int(7, "+7".to_string())),
            ("0x1F", Value::Int(31, "0x1F".to_string())),
            ("0o17", Value::Int(15, "0o17".to_string())),
            ("18446744073709551615", Value::Int(u64::MAX.into(), "18446744073709551615".to_string())),
            ("1.10", Value::Float(1.1, "1.10".to_string())),
            ("1.", Value::Float(1.0, "1.".to_string())),
            (".5", Value::Float(0.5, ".5".to_string())),
            ("-1e3", Value::Float(-1000.0, "-1e3".to_string())),
            ("-.inf", Value::Float(f64::NEG_INFINITY, "-.inf".to_string())),
        ] {
            assert_eq!(resolve(source.to_string()), expected, "{source}");
        }
    }

    #[test]
    fn what_only_looks_like_a_value_is_a_text() {
        for source in ["yes", "on", "2026-11", "1_000", "0x", "0x-1", "+-1", "1e", "e1", ".", "-", "inf", "nan", "tRUE"]
        {
            let expected = Value::Text(Text { text: source.to_string(), quoted: false });
            assert_eq!(resolve(source.to_string()), expected, "{source}");
        }
    }
}
